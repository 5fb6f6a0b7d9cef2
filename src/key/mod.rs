//! API keys: their format, the file with their hashes, the set that requests are checked against,
//! quotas, and sessions.
//!
//! A key is shown only once, when it's created. No matter how broken the key file is, access is
//! never open. Nothing here depends on HTTP.

pub mod access;
pub mod development;
mod expiry;
pub mod file;
mod format;
mod grant;
mod origin;
mod quota;
mod rate;
mod session;
mod sign_in_code;
mod store;
mod watch;

pub use expiry::{Expiry, ExpiryError};
pub(crate) use format::without_keys;
pub use format::{ApiKey, KeyDigest, KeyFormatError, KeyKind};
pub use grant::{Allowance, Grant, Holder};
pub use origin::{Origin, OriginError};
pub use quota::{AddressQuotas, Decision, Network, Quota, WINDOW};
pub use rate::{Rate, RateError};
pub use session::SESSION_LIFETIME;
pub use sign_in_code::SignInCodes;
pub use store::{AuthError, KeyStore};
pub use watch::watch;
