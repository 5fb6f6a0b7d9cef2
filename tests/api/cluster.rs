//! Loads the fixtures into a cluster. If `OPENSEARCH_URLS` lists node addresses, the tests run
//! against that cluster instead of the embedded engine.
//!
//! `make test-opensearch OPENSEARCH=api` sets the variable. The program itself builds the indices,
//! once per run and with a separate prefix for each set of exports.
//! `tests/opensearch/embedded_only.txt` lists the tests that only make sense for the embedded
//! engine.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use software_directory::engine::opensearch::cluster::{Cluster, ClusterSettings};
use software_directory::engine::opensearch::{IndexPrefix, Published, Publisher};
use software_directory::export::Skipped;
use software_directory::generation::{self, Snapshot};
use tokio::runtime::Runtime;

/// A cluster.
#[derive(Debug, Clone)]
pub(crate) struct Nodes {
    urls: String,
}

/// The cluster to test; `None` for the embedded engine.
pub(crate) fn nodes() -> Option<Nodes> {
    let urls = std::env::var("OPENSEARCH_URLS").ok()?;
    Some(Nodes { urls })
}

impl Nodes {
    /// The last generation after publishing these sets of exports one after another.
    pub(crate) fn snapshot(&self, sets: &[&[(&str, &str)]]) -> Arc<Snapshot> {
        self.open(&self.filled(sets))
    }

    /// A generation of these exports that reports these numbers of exports and records as skipped.
    pub(crate) fn skipping(&self, exports: &[(&str, &str)], skipped: Skipped) -> Arc<Snapshot> {
        let published = self.filled(&[exports]);
        self.open(&Published { skipped: [skipped.exports, skipped.records], ..published })
    }

    /// A generation of the exports in a folder.
    pub(crate) fn snapshot_of(&self, folder: &Path) -> Arc<Snapshot> {
        let prefix = format!("folder-{}", blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex());
        self.fill(&prefix, folder);
        self.open(&self.published(&prefix))
    }

    fn filled(&self, sets: &[&[(&str, &str)]]) -> Published {
        static FILLED: LazyLock<Mutex<HashMap<String, Arc<OnceLock<Published>>>>> = LazyLock::new(Mutex::default);
        let mut hasher = blake3::Hasher::new();
        for text in sets.iter().flat_map(|set| set.iter().flat_map(|(id, document)| [id, document]).chain([&"next"])) {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        let prefix = format!("api-{}", hasher.finalize().to_hex());
        let published = Arc::clone(FILLED.lock().expect("a lock").entry(prefix.clone()).or_default());
        let fill = || {
            for set in sets {
                let folder = tempfile::tempdir().expect("a folder");
                for (id, document) in *set {
                    std::fs::write(folder.path().join(format!("{id}.json")), document).expect("an export");
                }
                self.fill(&prefix, folder.path());
            }
            self.published(&prefix)
        };
        published.get_or_init(fill).clone()
    }

    fn fill(&self, prefix: &str, folder: &Path) {
        let index = tempfile::tempdir().expect("a folder");
        let output = Command::new(env!("CARGO_BIN_EXE_software-directory"))
            .args(["--reindex", "--engine", "opensearch", "--engine-url", &self.urls, "--engine-index-prefix", prefix])
            .arg("--data")
            .arg(folder)
            .arg("--index")
            .arg(index.path())
            .output()
            .expect("the program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn published(&self, prefix: &str) -> Published {
        let publisher = Publisher::new(self.connect(), prefix.parse::<IndexPrefix>().expect("a prefix"));
        let current = block_on(async { publisher.published().await.expect("a cluster") });
        current.expect("a generation").0
    }

    fn open(&self, published: &Published) -> Arc<Snapshot> {
        let cluster = self.connect();
        block_on(async { generation::cluster::open(&cluster, published).await.expect("a generation") })
    }

    /// Opens separate connections for a snapshot, because pooled connections are driven by a test's
    /// runtime and would close when it shuts down.
    fn connect(&self) -> Arc<Cluster> {
        let urls = self.urls.split(',').map(|url| ClusterSettings::parse_url(url).expect("a URL")).collect();
        Arc::new(Cluster::new(ClusterSettings::new(urls)).expect("settings"))
    }
}

/// Runs a future on a separate runtime, because it would block the test's own. Downloads
/// keep running there.
fn block_on<T: Send>(future: impl Future<Output = T> + Send) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));
    std::thread::scope(|scope| scope.spawn(|| RUNTIME.block_on(future)).join().expect("no panic"))
}
