//! Rows that are read in the order they were written, or individually by offset.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{BUFFER_BYTES, Scratch, Share};

/// Each row is preceded by its encoded length.
const LENGTH_BYTES: usize = 4;

/// A spool that is being written: in memory, or in a file once the budget is exceeded.
#[derive(Debug)]
pub struct SpoolWriter<T> {
    scratch: Scratch,
    rows: Rows<T, BufWriter<File>>,
    count: u64,
    /// The next row's offset.
    next: u64,
    share: Share,
}

#[derive(Debug)]
enum Rows<T, F> {
    /// Each row with its offset: where it would start in a file.
    Memory(Vec<(u64, T)>),
    File(F),
}

impl<T: Serialize> SpoolWriter<T> {
    pub(super) fn new(scratch: &Scratch) -> Self {
        let share = scratch.share();
        Self { scratch: scratch.clone(), rows: Rows::Memory(Vec::new()), count: 0, next: 0, share }
    }

    /// Writes to a file right from the first row.
    pub(super) fn in_file(self) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER_BYTES, self.scratch.file()?);
        Ok(Self { rows: Rows::File(file), ..self })
    }

    pub const fn len(&self) -> u64 {
        self.count
    }

    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a row and returns its offset.
    pub fn push(&mut self, row: T) -> io::Result<u64> {
        let place = self.next;
        self.count += 1;
        match &mut self.rows {
            Rows::File(file) => self.next += write(file, &row)?,
            Rows::Memory(rows) => {
                let bytes = postcard::experimental::serialized_size(&row).map_err(io::Error::other)?;
                self.next += (LENGTH_BYTES + bytes) as u64;
                rows.push((place, row));
                if self.share.take(size_of::<(u64, T)>() + bytes, BUFFER_BYTES) {
                    let mut file = BufWriter::with_capacity(BUFFER_BYTES, self.scratch.file()?);
                    rows.iter().try_for_each(|(_, row)| write(&mut file, row).map(drop))?;
                    self.rows = Rows::File(file);
                    self.share.give_back();
                }
            }
        }
        Ok(place)
    }

    pub fn finish(self) -> io::Result<Spool<T>> {
        let rows = match self.rows {
            Rows::Memory(rows) => Rows::Memory(rows),
            Rows::File(file) => Rows::File(file.into_inner().map_err(io::IntoInnerError::into_error)?),
        };
        Ok(Spool(Arc::new(Written { rows, count: self.count, share: self.share })))
    }
}

/// Writes a row, and returns how many bytes it takes up, including its length.
fn write<T: Serialize>(file: &mut BufWriter<File>, row: &T) -> io::Result<u64> {
    let row = postcard::to_stdvec(row).map_err(io::Error::other)?;
    file.write_all(&u32::try_from(row.len()).map_err(io::Error::other)?.to_le_bytes())?;
    file.write_all(&row)?;
    Ok((LENGTH_BYTES + row.len()) as u64)
}

/// A finished spool, which can be read any number of times.
#[derive(Debug, Clone)]
pub struct Spool<T>(Arc<Written<T>>);

#[derive(Debug)]
struct Written<T> {
    rows: Rows<T, File>,
    count: u64,
    /// The memory share, returned when it's dropped.
    #[allow(dead_code)]
    share: Share,
}

impl<T> Spool<T> {
    pub fn len(&self) -> u64 {
        self.0.count
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn rows(&self) -> SpoolRows<T> {
        self.rows_from(0, self.len())
    }

    /// The next `count` rows, starting at this offset.
    pub fn rows_from(&self, place: u64, count: u64) -> SpoolRows<T> {
        let position = match &self.0.rows {
            Rows::Memory(rows) => Position::Memory(index_of(rows, place)),
            Rows::File(_) => {
                let file = RowReader { of: Arc::clone(&self.0), at: place };
                Position::File(BufReader::with_capacity(BUFFER_BYTES, file))
            }
        };
        SpoolRows { of: Arc::clone(&self.0), position, left: count }
    }
}

impl<T: Clone + DeserializeOwned> Spool<T> {
    /// The rows, moved out of the spool if they're in memory.
    pub fn into_rows(self) -> SpoolRows<T> {
        match Arc::try_unwrap(self.0) {
            Ok(Written { rows: Rows::Memory(rows), count, share }) => {
                let of = Arc::new(Written { rows: Rows::Memory(Vec::new()), count: 0, share });
                SpoolRows { of, position: Position::Owned(rows.into_iter()), left: count }
            }
            Ok(file) => Self(Arc::new(file)).rows(),
            Err(shared) => Self(shared).rows(),
        }
    }

    /// Calls a function with each of the next `count` rows and its offset, starting at this offset.
    pub fn visit(&self, mut place: u64, count: u64, mut each: impl FnMut(u64, &T) -> io::Result<()>) -> io::Result<()> {
        if let Rows::Memory(rows) = &self.0.rows {
            let rows = rows[index_of(rows, place)..].iter().take(usize::try_from(count).unwrap_or(usize::MAX));
            return rows.into_iter().try_for_each(|(place, row)| each(*place, row));
        }
        let reader = RowReader { of: Arc::clone(&self.0), at: place };
        let mut file = BufReader::with_capacity(BUFFER_BYTES, reader);
        for _ in 0..count {
            let (row, bytes) = read(&mut file)?;
            each(place, &row)?;
            place += bytes;
        }
        Ok(())
    }

    /// The row at this offset.
    pub fn get(&self, place: u64) -> io::Result<Cow<'_, T>> {
        match &self.0.rows {
            Rows::Memory(rows) => match rows.get(index_of(rows, place)) {
                Some((at, row)) if *at == place => Ok(Cow::Borrowed(row)),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            },
            Rows::File(file) => {
                let mut length = [0; LENGTH_BYTES];
                file.read_exact_at(&mut length, place)?;
                let mut row = vec![0; u32::from_le_bytes(length) as usize];
                file.read_exact_at(&mut row, place + LENGTH_BYTES as u64)?;
                postcard::from_bytes(&row).map(Cow::Owned).map_err(io::Error::other)
            }
        }
    }
}

/// Reads the next row, and returns how many bytes it takes up, including its length.
fn read<T: DeserializeOwned>(file: &mut impl Read) -> io::Result<(T, u64)> {
    let mut length = [0; LENGTH_BYTES];
    file.read_exact(&mut length)?;
    let mut row = vec![0; u32::from_le_bytes(length) as usize];
    file.read_exact(&mut row)?;
    let bytes = (LENGTH_BYTES + row.len()) as u64;
    Ok((postcard::from_bytes(&row).map_err(io::Error::other)?, bytes))
}

/// The index of the row at this offset. Rows are ordered by offset.
fn index_of<T>(rows: &[(u64, T)], place: u64) -> usize {
    rows.partition_point(|(at, _)| *at < place)
}

/// Rows in the order they were written.
#[derive(Debug)]
pub struct SpoolRows<T> {
    of: Arc<Written<T>>,
    position: Position<T>,
    /// The number of rows that haven't been read yet.
    left: u64,
}

#[derive(Debug)]
enum Position<T> {
    /// The next row's index.
    Memory(usize),
    /// Rows moved out of the spool, because nothing else uses them.
    Owned(std::vec::IntoIter<(u64, T)>),
    File(BufReader<RowReader<T>>),
}

impl<T: Clone + DeserializeOwned> Iterator for SpoolRows<T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        match &mut self.position {
            Position::Memory(next) => {
                let Rows::Memory(rows) = &self.of.rows else { return None };
                let (_, row) = rows.get(*next)?;
                *next += 1;
                Some(Ok(row.clone()))
            }
            Position::Owned(rows) => rows.next().map(|(_, row)| Ok(row)),
            Position::File(file) => Some(read(file).map(|(row, _)| row)),
        }
    }
}

/// A reader with its own position, so several can read the same file.
#[derive(Debug)]
struct RowReader<T> {
    of: Arc<Written<T>>,
    at: u64,
}

impl<T> Read for RowReader<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Rows::File(file) = &self.of.rows else { return Ok(0) };
        let read = file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_memory_and_in_a_file_are_read_in_order_and_by_offset() {
        let folder = tempfile::tempdir().expect("a folder");
        for scratch in [Scratch::in_memory(), Scratch::with_own_bytes(folder.path(), 1000)] {
            let mut spool = scratch.spool();
            let row = |number: u32| (number, "x".repeat(number as usize % 7));
            let places: Vec<_> = (0..30_000).map(|number| spool.push(row(number)).expect("written")).collect();
            let spool: Spool<(u32, String)> = spool.finish().expect("written");
            let (mut one, mut other) = (spool.rows(), spool.rows());
            assert_eq!(other.next().expect("a row").expect("read"), row(0));
            assert!(one.by_ref().zip(0..).all(|(read, number)| read.is_ok_and(|read| read == row(number))));
            assert_eq!(other.count(), 29_999);
            assert_eq!(*spool.get(places[20_000]).expect("a row"), row(20_000));
            let some: Vec<_> = spool.rows_from(places[100], 2).map(|row| row.expect("read")).collect();
            assert_eq!(some, [row(100), row(101)]);
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0, "scratch files are unnamed");
    }
}
