//! TLS and users.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use software_directory::opensearch::{self, Credentials, Error, ErrorKind};

use crate::opensearch::environment::{World, product, search, settings, variable};

fn as_user(user: &str, password: &str) -> opensearch::Settings {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, password).expect("written");
    let credentials = Credentials::password(user, file.path()).expect("credentials");
    let ca_file = Some(PathBuf::from(variable("OPENSEARCH_CA_FILE")));
    opensearch::Settings { ca_file, credentials: Some(credentials), ..settings() }
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn only_a_user_with_the_right_password_and_role_gets_in_and_only_over_trusted_tls() {
    let password = fs::read_to_string(variable("OPENSEARCH_PASSWORD_FILE")).expect("a password");
    let (user, stranger) = (variable("OPENSEARCH_USER"), variable("OPENSEARCH_STRANGER"));
    let update = async |settings| {
        let world = World::connected("security", settings);
        world.write("tools", &json!({"software": [product("moss", "Moss", &json!({}))]}));
        let updated = world.update().await;
        match updated {
            Ok(_) => Ok(search(&world.directory().await, "moss").await.pagination.total),
            Err(Error::Cluster(error)) => Err(error),
            Err(error) => panic!("{error:?}"),
        }
    };
    assert_eq!(update(as_user(&user, &password)).await.expect("published"), 1);
    for (settings, status) in [(as_user(&user, "wrong"), "401"), (as_user(&stranger, &password), "403")] {
        let error = update(settings).await.expect_err("no permission");
        assert_eq!(error.kind, ErrorKind::Authentication);
        assert!(error.to_string().contains(status), "{error}");
    }
    let unknown_authority = opensearch::Settings { ca_file: None, ..as_user(&user, &password) };
    let error = update(unknown_authority).await.expect_err("an unknown authority");
    assert!(error.kind == ErrorKind::Unavailable && error.to_string().contains("TLS"), "{error:?}");
}
