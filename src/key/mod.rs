//! API keys: their format, the file with their hashes, the set that requests are checked against,
//! quotas, and sessions.
//!
//! A key is shown only once, when it's created. No matter how broken the key file is, access is
//! never open. Nothing here depends on HTTP.

pub mod access;
mod expiry;
pub mod file;
mod format;
mod grant;
mod quota;
mod session;
mod store;

pub use expiry::{Expiry, ExpiryError};
pub(crate) use format::without_keys;
pub use format::{ApiKey, KeyDigest, KeyFormatError, KeyKind};
pub use grant::{Allowance, Grant, Holder, Origin, OriginError};
pub use quota::{AddressQuotas, Decision, Network, Quota, Rate, RateError, WINDOW};
pub use session::{SESSION_LIFETIME, SignInCodes};
pub use store::{AuthError, KeyStore, watch};
