//! Errors from following a leader.

use std::io;
use std::path::PathBuf;

use crate::generation::BuildFailure;
use crate::generation::INDEX_FORMAT;
use crate::generation::store::StoreError;
use crate::text::count::counted;

/// The file that contains the leader's key can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the key in {} can't be read", path.display())]
pub struct UnreadableKey {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// Why following a leader failed. The served generation isn't affected.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    #[error("{url} can't be reached")]
    Unreachable {
        /// The address.
        url: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    #[error("{url} isn't available: it responded with {status}")]
    Unavailable {
        /// The address.
        url: String,
        /// The response's status.
        status: u16,
    },
    #[error("the download of {url} was cut off after {}; it will resume from there", counted(*received, "byte"))]
    Cut {
        /// The address.
        url: String,
        /// How many bytes of the part are on disk.
        received: u64,
        /// The cause.
        #[source]
        source: io::Error,
    },
    #[error(
        "{url} refuses access: it responded with {status}; give --follow-key-file a file with a valid key, which on a server of \
         this program is created with `keys create --name NAME --replicate`"
    )]
    Refused {
        /// The address.
        url: String,
        /// The response's status.
        status: u16,
    },
    /// The key can't be read.
    #[error(transparent)]
    KeyFile(#[from] UnreadableKey),
    #[error(
        "{url} isn't a published index: {what}; --follow takes the address of the folder that contains CURRENT, which on a server \
         of this program is https://HOST/v1/generations"
    )]
    Unexpected {
        /// The address.
        url: String,
        /// The fault.
        what: String,
    },
    #[error(
        "the leader's generation {name} has index format {format}, and this version reads {INDEX_FORMAT}; run the same version on \
         the leader and its followers"
    )]
    Incompatible {
        /// The generation's folder.
        name: String,
        format: u32,
    },
    #[error("the manifest of the leader's generation {name} was rejected: {what}")]
    Manifest {
        /// The generation's folder.
        name: String,
        /// The fault.
        what: String,
    },
    #[error("{url} is damaged: {what}; discarding it and pulling it again")]
    Damaged {
        /// The part's address.
        url: String,
        /// The fault.
        what: &'static str,
    },
    /// The index folder can't be written to.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the leader's generation can't be used")]
    Unusable(#[source] BuildFailure),
    #[error("the program failed ({0}); please report it")]
    Panicked(String),
}

impl FollowError {
    /// The reason in `/readyz`.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } | Self::Unavailable { .. } | Self::Cut { .. } => "leader_unreachable",
            Self::Refused { .. } | Self::KeyFile(_) => "leader_refused",
            Self::Incompatible { .. } => "leader_incompatible",
            Self::Unexpected { .. } | Self::Manifest { .. } | Self::Damaged { .. } | Self::Unusable(_) => {
                "leader_invalid"
            }
            Self::Store(StoreError::Locked { .. }) => "index_locked",
            Self::Store(_) => "index_not_written",
            Self::Panicked(_) => "follow_panicked",
        }
    }
}
