//! TLS with the certificates of a file, or those that the machine trusts.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use super::ClusterSettingsError;

/// The settings of TLS. Without an address of https nothing has to be trusted, and nothing is read.
pub(super) fn config(ca_file: Option<&Path>, is_needed: bool) -> Result<ClientConfig, ClusterSettingsError> {
    let roots = match ca_file {
        Some(path) => roots_of(path)?,
        None if is_needed => roots_of_machine()?,
        None => RootCertStore::empty(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(builder.map_err(ClusterSettingsError::Tls)?.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates of a PEM file; all have to be valid.
fn roots_of(path: &Path) -> Result<RootCertStore, ClusterSettingsError> {
    let unreadable = |source| ClusterSettingsError::CaFile { path: path.to_path_buf(), source };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(Box::new(error)))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unreadable(Box::new(error)))?;
        roots.add(certificate).map_err(|error| unreadable(Box::new(error)))?;
    }
    if roots.is_empty() { Err(ClusterSettingsError::NoCertificate(path.to_path_buf())) } else { Ok(roots) }
}

fn roots_of_machine() -> Result<RootCertStore, ClusterSettingsError> {
    let mut roots = RootCertStore::empty();
    // Some machines have certificates that can't be parsed; the others are used.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() { Err(ClusterSettingsError::Certificates) } else { Ok(roots) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ca_file_must_hold_a_certificate() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ca.pem");
        assert!(matches!(config(Some(&path), true), Err(ClusterSettingsError::CaFile { .. })), "a missing file");
        fs::write(&path, "no certificate\n").expect("written");
        assert!(matches!(config(Some(&path), true), Err(ClusterSettingsError::NoCertificate(_))));
        fs::write(&path, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").expect("written");
        assert!(matches!(config(Some(&path), true), Err(ClusterSettingsError::CaFile { .. })), "a damaged one");
        assert!(config(None, false).is_ok());
    }
}
