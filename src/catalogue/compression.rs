//! Compresses short strings that are read one at a time, using zstd with a shared dictionary.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Cursor};

use zstd::bulk;
use zstd::dict::DecoderDictionary;
use zstd::zstd_safe::{CParameter, DCtx, get_error_name, get_frame_content_size};

/// The dictionary size in bytes, which is the zstd tool's default.
const DICTIONARY_BYTES: usize = 110 * 1024;

/// The maximum number of bytes that one byte of a frame can decode to: a 128 KiB block that repeats
/// a single byte takes up four bytes (RFC 8878, section 3.1.1.2).
const MAX_EXPANSION: usize = 32 * 1024;

pub(super) struct Compressor {
    compressor: bulk::Compressor<'static>,
    dictionary: Vec<u8>,
}

impl Compressor {
    /// Trains the dictionary on a sample. If the sample is too small, the dictionary is left empty.
    pub(super) fn train(sample: &[Vec<u8>]) -> io::Result<Self> {
        let dictionary = zstd::dict::from_samples(sample, DICTIONARY_BYTES).unwrap_or_default();
        let mut compressor = bulk::Compressor::with_dictionary(zstd::DEFAULT_COMPRESSION_LEVEL, &dictionary)?;
        // There's only one dictionary, and storing its id would waste four bytes per string.
        compressor.set_parameter(CParameter::DictIdFlag(false))?;
        Ok(Self { compressor, dictionary })
    }

    /// Compresses a string into a zstd frame whose header contains the string's length.
    pub(super) fn compress(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        self.compressor.compress(text)
    }

    pub(super) fn dictionary(&self) -> &[u8] {
        &self.dictionary
    }
}

/// A dictionary for decompression.
pub(super) struct Dictionary(DecoderDictionary<'static>);

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").finish_non_exhaustive()
    }
}

impl Dictionary {
    pub(super) fn new(bytes: &[u8]) -> io::Result<Self> {
        DecoderDictionary::try_copy(bytes).map(Self)
    }

    /// Decompresses a frame and appends the result to `out`.
    pub(super) fn decompress(&self, frame: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        thread_local! {
            static CONTEXT: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
        }
        let start = out.len();
        out.try_reserve(text_len(frame).ok_or(io::ErrorKind::InvalidData)?)?;
        let mut rest = Cursor::new(out);
        rest.set_position(start as u64);
        let decompress = |context: &RefCell<DCtx<'static>>| {
            context.borrow_mut().decompress_using_ddict(&mut rest, frame, self.0.as_ddict())
        };
        match CONTEXT.with(decompress) {
            Ok(_) => Ok(()),
            Err(code) => Err(io::Error::new(io::ErrorKind::InvalidData, get_error_name(code))),
        }
    }
}

/// The uncompressed length in a frame's header; `None` if the frame is too short to contain that
/// much text.
pub(super) fn text_len(frame: &[u8]) -> Option<usize> {
    let length = get_frame_content_size(frame).ok().flatten()?.try_into().ok()?;
    (length <= frame.len().saturating_mul(MAX_EXPANSION)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<Vec<u8>> {
        (0..1000).map(|n| format!(r#","description":"product {n}","tags":["tag-{}"]}}"#, n % 7).into()).collect()
    }

    fn decompressed(dictionary: &Dictionary, frame: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = b"before ".to_vec();
        dictionary.decompress(frame, &mut out).map(|()| out)
    }

    #[test]
    fn strings_round_trip_with_and_without_a_dictionary() {
        let unseen: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for (sample, has_dictionary) in [(texts(), true), (Vec::new(), false), (texts()[..2].to_vec(), false)] {
            let mut compressor = Compressor::train(&sample).expect("set up");
            assert_eq!(!compressor.dictionary().is_empty(), has_dictionary);
            let dictionary = Dictionary::new(compressor.dictionary()).expect("a dictionary");
            for text in texts().iter().map(Vec::as_slice).chain([&b""[..], b"x", &unseen]) {
                let frame = compressor.compress(text).expect("compressed");
                assert_eq!(text_len(&frame), Some(text.len()));
                assert_eq!(decompressed(&dictionary, &frame).expect("intact"), [b"before ", text].concat());
            }
        }
    }

    #[test]
    fn a_dictionary_halves_the_size_of_a_short_string() {
        let mut compressor = Compressor::train(&texts()).expect("set up");
        let mut plain = Compressor::train(&[]).expect("set up");
        let text = &texts()[500];
        let [with, without] = [&mut compressor, &mut plain].map(|by| by.compress(text).expect("compressed").len());
        assert!(with * 2 < without, "{with} and {without} bytes");
    }

    #[test]
    fn a_damaged_frame_is_an_error_or_decodes_to_the_stated_length() {
        let mut compressor = Compressor::train(&texts()).expect("set up");
        let dictionary = Dictionary::new(compressor.dictionary()).expect("a dictionary");
        let frame = compressor.compress(&texts()[500]).expect("compressed");
        for end in 0..frame.len() {
            decompressed(&dictionary, &frame[..end]).expect_err("cut short");
        }
        for (at, bit) in (0..frame.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut damaged = frame.clone();
            damaged[at] ^= 1 << bit;
            if let Ok(text) = decompressed(&dictionary, &damaged) {
                assert_eq!(text.len() - b"before ".len(), text_len(&damaged).expect("a length"));
            }
        }
    }

    #[test]
    fn a_frame_with_an_impossible_length_is_rejected() {
        let stating = |length: u64| [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &length.to_le_bytes()].concat();
        assert_eq!([1000, 1 << 59].map(|length| text_len(&stating(length))), [Some(1000), None]);
    }

    #[test]
    fn a_damaged_dictionary_is_rejected() {
        let dictionary = Compressor::train(&texts()).expect("set up").dictionary().to_vec();
        Dictionary::new(&dictionary[..16]).expect_err("cut short");
    }
}
