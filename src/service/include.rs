//! Adds members of the full record to the products in lists.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{ServiceError, Translator};
use crate::catalogue::resource::SoftwareDetail;
use crate::catalogue::{ObjectWriter, shorten};
use crate::index::HitTexts;

/// The maximum size of a page's included members, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Prepares a page's list items: translates them, and adds the included members of the full record.
#[derive(Debug)]
pub struct ListItems<'q> {
    pub(super) translator: Translator<'q>,
    include: &'q [&'static str],
    /// How many bytes of included members still fit.
    left: usize,
}

impl<'q> ListItems<'q> {
    pub fn new(translator: Translator<'q>, include: &'q [&'static str]) -> Self {
        Self { translator, include, left: MAX_BYTES }
    }

    /// Whether the hits' text is needed.
    pub(super) const fn needs_texts(&self) -> bool {
        self.translator.needs_texts() || !self.include.is_empty()
    }

    pub(super) fn item(&mut self, item: Bytes, texts: Option<&HitTexts>) -> Result<Bytes, ServiceError> {
        let Some(texts) = texts.filter(|_| !self.include.is_empty()) else {
            return self.translator.item(item, texts);
        };
        if !self.translator.needs_texts() {
            let item = self.translator.item(item, None)?;
            return self.with_members(&item, &texts.detail);
        }
        let mut product = SoftwareDetail::read(&item, &texts.detail)?;
        self.translator.detail(&mut product);
        shorten(&mut product.item);
        self.with_members(&serde_json::to_vec(&product.item)?, &serde_json::to_vec(&product.detail)?)
    }

    /// Adds the included members of `detail` to an item. The names of those that don't fit are in
    /// its member `omitted`.
    fn with_members(&mut self, item: &[u8], detail: &[u8]) -> Result<Bytes, ServiceError> {
        let values: BTreeMap<&str, &RawValue> = serde_json::from_slice(detail)?;
        let mut object = ObjectWriter::new(Vec::with_capacity(item.len()));
        object.members(item);
        let mut omitted = Vec::new();
        for (name, value) in self.include.iter().filter_map(|name| Some((*name, values.get(name)?.get()))) {
            match self.left.checked_sub(value.len()) {
                Some(left) => {
                    self.left = left;
                    object.json_member(name, value.as_bytes());
                }
                None => omitted.push(name),
            }
        }
        if !omitted.is_empty() {
            object.member("omitted", &omitted)?;
        }
        Ok(object.finish().into())
    }
}
