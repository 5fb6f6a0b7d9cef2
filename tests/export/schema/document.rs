//! JSON documents that keep numbers as they're written.

use std::fmt;

#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// A string, number, boolean or null, as JSON text.
    Raw(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    pub(crate) fn parse(text: &str) -> Self {
        Self::from(serde_json::from_str::<serde_json::Value>(text).expect("JSON"))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Raw(serde_json::to_string(text).expect("a string"))
    }

    pub(crate) fn to_serde(&self) -> serde_json::Value {
        serde_json::from_str(&self.to_string()).expect("JSON")
    }

    pub(crate) fn set(&mut self, key: &str, value: Self) {
        let Self::Object(members) = self else { return };
        members.retain(|(name, _)| name != key);
        members.push((key.to_owned(), value));
    }

    pub(crate) fn first_record(&mut self) -> &mut Self {
        let Self::Object(members) = self else { panic!("an object") };
        match members.iter_mut().find(|(name, _)| name == "software") {
            Some((_, Self::Array(records))) => &mut records[0],
            _ => panic!("records"),
        }
    }

    fn children(&self) -> usize {
        match self {
            Self::Raw(_) => 0,
            Self::Array(elements) => elements.len(),
            Self::Object(members) => members.len(),
        }
    }

    fn child(&mut self, index: usize) -> &mut Self {
        match self {
            Self::Array(elements) => &mut elements[index],
            Self::Object(members) => &mut members[index].1,
            Self::Raw(_) => self,
        }
    }

    /// How many arrays and objects in this node aren't empty, counting the node itself.
    pub(crate) fn container_count(&self) -> usize {
        let inner: usize = match self {
            Self::Raw(_) => return 0,
            Self::Array(elements) => elements.iter().map(Self::container_count).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| value.container_count()).sum(),
        };
        inner + usize::from(self.children() > 0)
    }

    /// The container with a number below [`container_count`](Self::container_count). Outer
    /// containers come first.
    pub(crate) fn container(&mut self, mut number: usize) -> &mut Self {
        if number == 0 {
            return self;
        }
        number -= 1;
        for index in 0..self.children() {
            let count = self.child(index).container_count();
            if number < count {
                return self.child(index).container(number);
            }
            number -= count;
        }
        self
    }
}

impl From<serde_json::Value> for Node {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Array(elements) => Self::Array(elements.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
            scalar => Self::Raw(scalar.to_string()),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw(text) => f.write_str(text),
            Self::Array(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (key, value)) in members.iter().enumerate() {
                    write!(f, "{}{}: {value}", if index > 0 { ", " } else { "" }, Self::text(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A valid export with everything that the schema mentions, plus additional properties.
pub(crate) fn valid() -> Node {
    Node::parse(
        r#"{
            "name": "Éxample", "license": "https://example.org/licence", "as_of": "2025-03-01", "generator": {"v": [1]},
            "software": [
                {
                    "id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "vendor-sources-reviewed",
                    "evidence_checked_on": "2025-02-30", "rating": 4.5, "review_count": 3, "offering_type": "software",
                    "sources": [["Page", "https://a.example/p"], ["", "urn:isbn:0451450523"]], "tags": ["x"]
                },
                {
                    "id": "b", "name": "日本", "url": "http://b.example", "evidence_status": "pending-review",
                    "rating": null, "review_count": null, "offering_type": "document-templates", "tagline": 7
                },
                {
                    "id": "c", "name": "C", "url": "ftp://c.example/", "evidence_status": "pending-review",
                    "evidence_checked_on": "2024-12-31", "sources": [["Label", "https://c.example/"]]
                }
            ]
        }"#,
    )
}
