//! The grammar: a state machine with its own stack, so that no document can overflow the thread's.

use std::collections::hash_map::Entry;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _};

use super::tape::{Kind, Node, Value};
use crate::export::Code;
use crate::export::finding::{Fault, Faults};
use crate::export::pointer::Escaped;

/// Reading can't continue; the reason has been reported.
pub(super) struct Stop;

enum Expect {
    Value,
    FirstElement,
    FirstKey,
    Key,
    Element,
    CommaOrEnd,
}

/// An array or object that isn't closed yet.
pub(super) struct Open {
    pub(super) node: u32,
    /// Number of elements before the current one.
    count: usize,
    /// Node of the current member's key.
    key: Option<u32>,
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) nodes: Vec<Node>,
    pub(super) open: Vec<Open>,
    pub(super) faults: Faults,
    pub(super) max_depth: usize,
}

/// Never saturates: larger files are refused before they're read.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, at: usize, max_depth: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at,
            nodes: Vec::with_capacity(text.len() / 24),
            open: Vec::new(),
            faults: Faults::default(),
            max_depth,
        }
    }

    pub(super) fn run(mut self) -> (Option<Vec<Node>>, Faults) {
        let complete = self.document().is_ok();
        (complete.then_some(self.nodes), self.faults)
    }

    /// Returns the nodes up to the point where parsing can't continue. Objects and arrays that are
    /// still open there extend to the end of the file.
    pub(super) fn run_to_stop(mut self, end: usize) -> Vec<Node> {
        let _ = self.document();
        let last = offset(self.nodes.len().saturating_sub(1));
        if self.open.last().is_some_and(|open| open.key == Some(last)) {
            // A key without a value.
            self.nodes.pop();
        }
        let next = offset(self.nodes.len());
        for open in &self.open {
            let node = &mut self.nodes[open.node as usize];
            (node.end, node.next) = (offset(end), next);
        }
        self.nodes
    }

    fn document(&mut self) -> Result<(), Stop> {
        let mut expect = Expect::Value;
        loop {
            self.space()?;
            expect = match expect {
                Expect::FirstElement if self.peek() == Some(b']') => self.close(),
                Expect::FirstKey if self.peek() == Some(b'}') => self.close(),
                Expect::Element if self.peek() == Some(b']') => self.trailing_comma(),
                Expect::Key if self.peek() == Some(b'}') => self.trailing_comma(),
                Expect::Value | Expect::FirstElement | Expect::Element => self.value()?,
                Expect::FirstKey | Expect::Key => self.key()?,
                Expect::CommaOrEnd => match self.open.last() {
                    None => return self.end(),
                    Some(open) => match (self.nodes[open.node as usize].kind, self.peek()) {
                        (kind, Some(b',')) => self.comma(kind),
                        (Kind::Array, Some(b']')) | (Kind::Object, Some(b'}')) => self.close(),
                        _ => return Err(self.no_comma()),
                    },
                },
            };
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips white space and comments; reports comments.
    fn space(&mut self) -> Result<(), Stop> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            let rest = &self.bytes[self.at..];
            let length = if rest.starts_with(b"//") || rest.starts_with(b"#") {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            } else if rest.starts_with(b"/*") {
                rest.windows(2)
                    .skip(2)
                    .position(|end| end == b"*/")
                    .map(|at| at + 4)
                    .ok_or_else(|| self.open_comment())?
            } else {
                return Ok(());
            };
            self.comment(length);
            self.at += length;
        }
    }

    fn value(&mut self) -> Result<Expect, Stop> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => return self.open(Kind::Object),
            Some(b'[') => return self.open(Kind::Array),
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9' | b'+' | b'.') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$') => self.word(),
            _ => return Err(self.no_value()),
        };
        self.push(kind, start);
        Ok(Expect::CommaOrEnd)
    }

    pub(super) fn push(&mut self, kind: Kind, start: usize) {
        let next = offset(self.nodes.len() + 1);
        self.nodes.push(Node { start: offset(start), end: offset(self.at), next, kind });
    }

    fn open(&mut self, kind: Kind) -> Result<Expect, Stop> {
        if self.open.len() == self.max_depth {
            return Err(self.too_deep());
        }
        let start = self.at;
        self.at += 1;
        self.open.push(Open { node: offset(self.nodes.len()), count: 0, key: None });
        self.push(kind, start);
        Ok(if kind == Kind::Object { Expect::FirstKey } else { Expect::FirstElement })
    }

    fn close(&mut self) -> Expect {
        self.at += 1;
        if let Some(Open { node, .. }) = self.open.pop() {
            let (index, next) = (node as usize, offset(self.nodes.len()));
            self.nodes[index].end = offset(self.at);
            self.nodes[index].next = next;
            if self.nodes[index].kind == Kind::Object {
                self.report_duplicates(index);
            }
        }
        Expect::CommaOrEnd
    }

    fn report_duplicates(&mut self, index: usize) {
        let object = Value::new(self.text, &self.nodes, index);
        let mut keys = HashMap::new();
        let mut described = Vec::new();
        for (key, _) in object.members() {
            let name = key.as_str().unwrap_or_default();
            match keys.entry(name) {
                Entry::Vacant(new) => _ = new.insert(key.span()),
                Entry::Occupied(first) if self.faults.count(Code::DuplicateKey, &key.span()) => {
                    described.push((first.key().clone(), first.get().clone(), key.span()));
                }
                Entry::Occupied(_) => {}
            }
        }
        if described.is_empty() {
            return;
        }
        let parent = self.pointer();
        for (key, first, again) in described {
            let pointer = format!("{parent}/{}", Escaped(&key));
            let message = format!("the key `{key}` is used twice in one object");
            let help = "remove one of the two: JSON readers disagree on which one counts";
            let fault = Fault::new(Code::DuplicateKey, again, pointer.clone(), message, help);
            self.faults.keep(fault.with_related(first, pointer, "first used here"));
        }
    }

    fn key(&mut self) -> Result<Expect, Stop> {
        if self.peek() != Some(b'"') {
            return Err(self.no_key());
        }
        let start = self.at;
        let kind = self.string()?;
        let key = offset(self.nodes.len());
        self.push(kind, start);
        if let Some(open) = self.open.last_mut() {
            open.key = Some(key);
        }
        self.space()?;
        if self.peek() != Some(b':') {
            return Err(self.no_colon());
        }
        self.at += 1;
        Ok(Expect::Value)
    }

    fn comma(&mut self, container: Kind) -> Expect {
        self.at += 1;
        if let Some(open) = self.open.last_mut() {
            open.count += 1;
            open.key = None;
        }
        if container == Kind::Object { Expect::Key } else { Expect::Element }
    }

    fn trailing_comma(&mut self) -> Expect {
        let comma = self.bytes[..self.at].iter().rposition(|byte| *byte == b',').unwrap_or(self.at);
        let message = "there is nothing after this comma";
        self.report(Code::TrailingComma, comma..comma + 1, message, "remove the comma");
        self.close()
    }

    fn end(&mut self) -> Result<(), Stop> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.trailing_content()) }
    }

    /// JSON pointer to the value being read.
    pub(super) fn pointer(&self) -> String {
        self.pointer_through(&self.open)
    }

    /// JSON pointer to the innermost open array or object.
    pub(super) fn container_pointer(&self) -> String {
        self.pointer_through(self.open.split_last().map_or(&[], |(_, outer)| outer))
    }

    fn pointer_through(&self, open: &[Open]) -> String {
        let mut pointer = String::new();
        for open in open {
            match (self.nodes[open.node as usize].kind, open.key) {
                (Kind::Object, Some(key)) => {
                    let key = Value::new(self.text, &self.nodes, key as usize).as_str().unwrap_or_default();
                    pointer = format!("{pointer}/{}", Escaped(&key));
                }
                (Kind::Array, _) => pointer = format!("{pointer}/{}", open.count),
                _ => {}
            }
        }
        pointer
    }

    pub(super) fn report(&mut self, code: Code, span: Range<usize>, message: impl Into<String>, help: &str) {
        // Builds the pointer only if it's needed: its keys may be several megabytes long.
        if self.faults.count(code, &span) {
            self.faults.keep(Fault::new(code, span, self.pointer(), message, help));
        }
    }
}
