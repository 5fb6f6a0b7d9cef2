//! Certificates.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};

use super::world::World;
use super::{pages, status, to};

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a certificate")
}

#[tokio::test]
async fn certificate_faults_are_reported() {
    let (trusted, other) = (authority("trusted"), authority("other"));
    let mut world = World::new(
        &["plain.example"],
        pages(|asked| match &*asked.path {
            "/expired" => to(301, "https://expired.example/"),
            _ => status(200),
        }),
    );
    world.roots.add(trusted.der().clone()).expect("a certificate");
    let key = KeyPair::generate().expect("a key");
    let serve = |host: &str, ip: &str, name: &str, years: [i32; 2], issuer: &CertifiedIssuer<'_, KeyPair>| {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.not_before = date_time_ymd(years[0], 1, 1);
        params.not_after = date_time_ymd(years[1], 1, 1);
        world.serve_tls(host, ip, &params.signed_by(&key, issuer).expect("a certificate"), &key);
    };
    let valid = [2000, 3000];
    serve("valid.example", "93.184.216.1", "valid.example", valid, &trusted);
    serve("expired.example", "93.184.216.2", "expired.example", [2000, 2001], &trusted);
    serve("early.example", "93.184.216.3", "early.example", [2999, 3000], &trusted);
    serve("other.example", "93.184.216.4", "valid.example", valid, &trusted);
    serve("unknown.example", "93.184.216.5", "unknown.example", valid, &other);
    for (host, outcome) in [
        ("valid", "fine"),
        ("expired", "certificate_expired"),
        ("early", "certificate_not_yet_valid"),
        ("other", "certificate_of_other_host"),
        ("unknown", "certificate_unknown_issuer"),
        ("plain", "tls_failed"),
    ] {
        assert_eq!(world.outcome(&format!("https://{host}.example/")).await, (outcome, None), "{host}");
    }
    let expired = ("certificate_expired", Some("https://expired.example/".to_owned()));
    assert_eq!(world.outcome("http://plain.example/expired").await, expired);
}
