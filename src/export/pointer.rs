//! RFC 6901 JSON pointers.

use std::fmt::{self, Display};

/// The path from a document's root to a value, one link per step. Nothing is allocated until it's
/// written out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Member(&'p Path<'p>, &'p str),
    Element(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    pub(super) const fn member(&'p self, key: &'p str) -> Self {
        Self::Member(self, key)
    }

    pub(super) const fn element(&'p self, index: usize) -> Self {
        Self::Element(self, index)
    }
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(parent, key) => write!(f, "{parent}/{}", Escaped(key)),
            Self::Element(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

impl From<Path<'_>> for String {
    fn from(path: Path<'_>) -> Self {
        path.to_string()
    }
}

/// A key as a pointer spells it: `~` becomes `~0` and `/` becomes `~1`.
pub(super) struct Escaped<'k>(pub(super) &'k str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['~', '/']) {
            f.write_str(&rest[..at])?;
            f.write_str(if rest[at..].starts_with('~') { "~0" } else { "~1" })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn a_pointer_escapes_tilde_and_slash() {
        let array = Path::Root.member("a");
        let element = array.element(3);
        assert_eq!(element.member("b/c~d~").to_string(), "/a/3/b~1c~0d~0");
        assert_eq!(Path::Root.member("").to_string(), "/");
        assert_eq!(Path::Root.to_string(), "");
    }
}
