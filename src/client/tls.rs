//! TLS with certificates from a file, or those that the machine trusts.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, ClientConfig};

use super::{Roots, TlsError};

/// TLS settings. Without any roots, no server is trusted.
pub(super) fn config(roots: Roots) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates in a PEM file, if any. All of them must be valid.
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
    // Some machines have certificates that can't be parsed; use the others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    (!roots.is_empty()).then_some(roots)
}

/// Says what's wrong with a server's certificate; `None` if TLS failed for another reason.
pub(crate) fn certificate_fault(error: &TlsError) -> Option<CertificateFault> {
    let TlsError::InvalidCertificate(error) = error else { return None };
    Some(match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => CertificateFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => CertificateFault::NotYetValid,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            CertificateFault::OtherHost
        }
        CertificateError::UnknownIssuer => CertificateFault::UnknownIssuer,
        _ => CertificateFault::Invalid,
    })
}

/// What is wrong with a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CertificateFault {
    Expired,
    NotYetValid,
    OtherHost,
    /// The chain is incomplete, or it ends at an authority that this machine doesn't trust.
    UnknownIssuer,
    Invalid,
}

/// Finds an error of this type among an error's causes.
pub(super) fn error_in<E: Error + Clone + 'static>(error: &(dyn Error + 'static)) -> Option<E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found.clone());
        }
        // An I/O error's sources don't include the error that it wraps.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = held.map(|held| held as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
