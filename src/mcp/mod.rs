//! The Model Context Protocol: the operations of [`service`](crate::service) as tools for
//! assistants.
//!
//! [`ToolServer`] answers messages about one snapshot, using the protocol's SDK. It depends neither
//! on axum nor on the command line: a [`Host`] runs its searches and logs its failures. [`answer`]
//! is the transport over HTTP, without sessions, and [`serve`] the one over two byte streams.
//!
//! Records are third-party data. Each result includes a notice to that effect, followed by a single
//! line with one JSON document, so no text inside the document can end it.

mod argument;
mod record;
mod schema;
mod server;
mod tool;
mod transport;

pub use server::{Host, Refused, ToolServer};
pub use transport::{MAX_MESSAGE_BYTES, Rejected, ServeError, answer, serve};
