//! The pages' styles, scripts and images, compiled in and served under a URL that changes with
//! their content.

use bytes::Bytes;

use super::document::Document;

macro_rules! assets {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_bytes!(concat!("../../../templates/static/", $path)).as_slice())),*]
    };
}

/// All files in `templates/static/`.
static FILES: [(&str, &[u8]); 6] =
    assets!["icon.svg", "page.js", "preview.js", "reference.js", "style.css", "theme.js"];

#[derive(Debug, Clone)]
pub(super) struct Assets {
    /// The folder's URL, whose last segment is the fingerprint.
    pub(super) url: String,
    files: Vec<(&'static str, Document)>,
}

impl Assets {
    /// `base` is the path of the public URL.
    pub(super) fn new(base: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (path, content) in &FILES {
            hasher.update(path.as_bytes()).update(&(content.len() as u64).to_le_bytes()).update(content);
        }
        let fingerprint = &hasher.finalize().to_hex()[..16];
        let file = |(path, content): &(&'static str, &'static [u8])| {
            (*path, Document::new(content_type(path), Bytes::from_static(content)).immutable())
        };
        Self { url: format!("{base}/assets/{fingerprint}"), files: FILES.iter().map(file).collect() }
    }

    pub(super) fn find(&self, fingerprint: &str, path: &str) -> Option<&Document> {
        let (_, document) = self.files.iter().find(|(of, _)| *of == path)?;
        Some(document).filter(|_| self.url.ends_with(&format!("/{fingerprint}")))
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_static_file_is_compiled_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/static");
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut found: Vec<_> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
        found.sort();
        assert_eq!(found, FILES.map(|(path, _)| path.to_owned()));
    }
}
