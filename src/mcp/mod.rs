//! The Model Context Protocol: the operations of [`service`](crate::service) as tools of an assistant.
//!
//! [`ToolServer`] answers one snapshot's messages, by way of the protocol's SDK. It depends neither on axum nor on the command line:
//! a [`Host`] runs its searches and logs its failures. [`answer`] is the transport over HTTP, without sessions; [`serve`] the
//! one over two byte streams.
//!
//! Records are data of third parties. A result is one JSON document on one line, so that no text in it can end it, and says so.

mod argument;
mod clean;
mod output;
mod record;
mod schema;
mod server;
mod tool;
mod transport;
mod window;

pub use server::{Host, Refused, ToolServer};
pub use transport::{MAX_MESSAGE_BYTES, Rejected, ServeError, answer, serve};
