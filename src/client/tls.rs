//! TLS with the certificates of a file, or with those that the machine trusts.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::{Roots, TlsError};

/// The settings of TLS. Without roots no server is trusted.
pub(super) fn config(roots: Roots) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates of a PEM file, which must all be valid. It may have none.
pub(crate) fn roots_of(path: &Path) -> Result<Roots, Box<dyn Error + Send + Sync>> {
    let mut roots = Roots::empty();
    for certificate in CertificateDer::pem_file_iter(path)? {
        roots.add(certificate?)?;
    }
    Ok(roots)
}

/// The certificates that this machine trusts, if it has any.
pub(crate) fn machine_roots() -> Option<Roots> {
    let mut roots = Roots::empty();
    // Some machines have certificates that can't be parsed; the others are used.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    (!roots.is_empty()).then_some(roots)
}

/// The TLS error among the causes of an error.
pub(super) fn error_in(error: &(dyn Error + 'static)) -> Option<TlsError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<TlsError>() {
            return Some(tls.clone());
        }
        // The causes of an I/O error don't begin with the error that it holds.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = held.map(|held| held as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
