//! The cluster that the environment variables describe, and directories in it.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use software_directory::export::{IdPrefixes, Limits};
use software_directory::generation::builder::Builder;
use software_directory::generation::source::Source;
use software_directory::generation::{MeaningOption, Processors, Settings, Unobserved};
use software_directory::opensearch::{self, Connection, Directory, Error, Index, IndexPrefix, Update, Updated};
use software_directory::scratch::Scratch;
use software_directory::service::{SearchPage, SearchSoftware};

/// A variable that `cluster.py` sets.
pub(crate) fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} isn't set: run make test-opensearch"))
}

/// The settings for a connection to all nodes.
pub(crate) fn settings() -> opensearch::Settings {
    let urls = variable("OPENSEARCH_URLS");
    let urls = urls.split(',').map(|url| opensearch::Settings::parse_url(url).expect("a URL"));
    opensearch::Settings { urls: urls.collect(), ..opensearch::Settings::default() }
}

/// Sends a line to the script: `nodes`, `kill n1`, `stop n1`, `continue n1` or `start n1`.
pub(crate) fn control(line: &str) {
    let mut stream = UnixStream::connect(variable("OPENSEARCH_CONTROL")).expect("the script's socket");
    writeln!(stream, "{line}").expect("written");
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).expect("an answer");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert!(answer.is_array(), "{line}: {answer}");
}

/// A directory with its own prefix and a folder of exports.
pub(crate) struct World {
    pub(crate) connection: Arc<Connection>,
    pub(crate) prefix: IndexPrefix,
    data: PathBuf,
    _folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new(prefix: &str) -> Self {
        Self::connected(prefix, settings())
    }

    pub(crate) fn connected(prefix: &str, settings: opensearch::Settings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = Arc::new(Connection::new(settings).expect("a connection"));
        let prefix = prefix.parse().expect("a prefix");
        Self { connection, prefix, data: folder.path().to_owned(), _folder: folder }
    }

    /// Writes an export, given its products and other members.
    pub(crate) fn write(&self, name: &str, export: &Value) {
        let mut whole = json!({"name": name, "license": "https://example.org/licence"});
        for (key, value) in export.as_object().expect("an object") {
            whole[key] = value.clone();
        }
        fs::write(self.data.join(format!("{name}.json")), whole.to_string()).expect("written");
    }

    /// Runs `--reindex`.
    pub(crate) async fn update(&self) -> Result<Updated, Error> {
        self.update_from(&self.data, 50, &mut |_, _| {}).await
    }

    pub(crate) async fn update_from(
        &self,
        data: &Path,
        max_removed: u8,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Updated, Error> {
        let settings = Settings {
            source: Source::Folder(data.to_owned()),
            index: None,
            read_only: false,
            skip_invalid: false,
            max_removed,
            id_prefixes: IdPrefixes::default(),
            meaning: MeaningOption::Off,
            limits: Limits::default(),
            process: None,
        };
        let processors = Processors::One;
        let mut builder = Builder { settings: &settings, observer: &mut Unobserved, served: None, processors };
        let set = builder.merge(&Scratch::in_memory()).expect("valid exports");
        let (connection, prefix) = (Arc::clone(&self.connection), self.prefix.clone());
        Update { connection, prefix, shards: None, max_removed, progress }.run(set).await
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The directory as last published.
    pub(crate) async fn directory(&self) -> Directory {
        let index = Index::new(Arc::clone(&self.connection), self.prefix.clone());
        index.check().await.expect("a publication");
        index.current().expect("loaded")
    }
}

/// A product with only what's required.
pub(crate) fn product(id: &str, name: &str, more: &Value) -> Value {
    let mut product =
        json!({"id": id, "name": name, "url": "https://example.org/", "evidence_status": "pending-review"});
    for (key, value) in more.as_object().expect("an object") {
        product[key] = value.clone();
    }
    product
}

pub(crate) async fn search(directory: &Directory, q: &str) -> SearchPage<'static> {
    directory.search_software(&SearchSoftware::new(q)).await.expect("a page")
}

/// The ids of list items.
pub(crate) fn ids<'i>(items: impl IntoIterator<Item = &'i bytes::Bytes>) -> Vec<String> {
    let id = |item: &bytes::Bytes| {
        let item: Value = serde_json::from_slice(item).expect("JSON");
        item["id"].as_str().expect("an id").to_owned()
    };
    items.into_iter().map(id).collect()
}

pub(crate) fn hits(page: &SearchPage<'_>) -> Vec<String> {
    ids(page.data.iter().map(|hit| &hit.item))
}
