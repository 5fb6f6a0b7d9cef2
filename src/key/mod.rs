//! API keys: their form, the file that holds their hashes, the set that requests are checked against, and quotas.
//!
//! A key itself is shown once, when it is created. No fault of the key file opens the service.
//! Nothing here knows HTTP.

pub mod access;
pub mod development;
mod expiry;
pub mod failures;
pub mod file;
mod format;
mod grant;
mod origin;
mod quota;
mod rate;
mod store;
mod watch;

pub use expiry::{Expiry, ExpiryError};
pub use failures::FailedAttempts;
pub(crate) use format::without_keys;
pub use format::{ApiKey, KeyDigest, KeyFormatError, KeyKind};
pub use grant::Grant;
pub use origin::{Origin, OriginError};
pub use quota::{Decision, Quota, WINDOW};
pub use rate::{Rate, RateError};
pub use store::{AuthError, KeyStore};
pub use watch::watch;
