//! The file that stores frequent queries without hits.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{EmptyQuery, normal};

/// The file's format. Other formats are rejected.
const FORMAT: u32 = 1;
/// Maximum size of a file in bytes, which is more than enough for the maximum number of queries.
const MAX_BYTES: u64 = 8 << 20;

#[derive(Debug, thiserror::Error)]
pub enum QueryFileError {
    #[error("it isn't a regular file; specify a different one")]
    NotAFile,
    #[error("the file can't be read")]
    Unreadable(#[from] io::Error),
    #[error(
        "the file is larger than {MAX_BYTES} bytes, so it can't have been written by a server; specify a different one"
    )]
    TooLarge,
    #[error(
        "the file doesn't contain queries without hits as written by `serve --empty-queries FILE`; specify a different one"
    )]
    Other(#[from] serde_json::Error),
    #[error("the file has format {0}, but this version only reads format {FORMAT}; specify a different one")]
    Format(u32),
}

#[derive(Serialize, Deserialize)]
struct QueryFile {
    format: u32,
    queries: Vec<EmptyQuery>,
}

/// Reads a file; `None` if it doesn't exist.
pub fn read(path: &Path) -> Result<Option<Vec<EmptyQuery>>, QueryFileError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(QueryFileError::TooLarge);
    }
    from_json(&bytes).map(Some)
}

pub fn from_json(text: &[u8]) -> Result<Vec<EmptyQuery>, QueryFileError> {
    let QueryFile { format, queries } = serde_json::from_slice(text)?;
    if format != FORMAT {
        return Err(QueryFileError::Format(format));
    }
    // The file may have been edited by hand, so a query may be as long as the file.
    Ok(queries.into_iter().filter(|of| normal(&of.query).is_some()).collect())
}

pub fn to_json(queries: &[EmptyQuery]) -> Result<Vec<u8>, QueryFileError> {
    let mut text = serde_json::to_vec_pretty(&QueryFile { format: FORMAT, queries: queries.to_vec() })?;
    text.push(b'\n');
    Ok(text)
}
