//! Reports reviews without a product.

use std::ops::Range;

use crate::export::finding::Findings;
use crate::export::{Code, Finding, SectionKind, SourceFile};
use crate::text::append;
use crate::text::count::{agreeing, counted};

#[derive(Debug, Clone, Copy)]
pub(super) struct Products {
    /// Whether every file could be read, so that anything missing really doesn't exist.
    pub(super) is_complete: bool,
    /// Whether every element of `software` has an id.
    pub(super) all_have_ids: bool,
}

impl Products {
    /// The code for a review whose product doesn't exist or is left out.
    pub(super) const fn orphan_code(self, product_exists: bool) -> Code {
        if !product_exists && self.is_complete && self.all_have_ids {
            Code::UnknownSoftware
        } else {
            Code::ReviewWithoutProduct
        }
    }

    /// Reports a review. If that's only a consequence of another finding, the new finding also
    /// represents `others` more reviews of the same product in the same file.
    pub(super) fn report(self, orphan: &Orphan<'_>, others: usize, findings: &mut Findings) {
        let id = orphan.product;
        let code = self.orphan_code(orphan.product_exists);
        let (mut message, help) = match (orphan.product_exists, code) {
            (true, _) => {
                (format!("this review is left out because its product `{id}` is left out"), "fix the product's record")
            }
            (false, Code::UnknownSoftware) => {
                (format!("there is no product `{id}` in the directory"), "correct `software_id`, or remove the review")
            }
            (false, _) if self.is_complete => (
                format!("there is no product `{id}` among the products with a valid id"),
                "fix the products without a valid id first",
            ),
            (false, _) => (
                format!("there is no product `{id}` in the files that could be read"),
                "fix the files that couldn't be read first",
            ),
        };
        if others > 0 {
            append(
                &mut message,
                format_args!(
                    "; {} {} about this product",
                    counted(others, "more review"),
                    agreeing(others, "is", "are")
                ),
            );
        }
        findings.add(code, orphan.file.shared_path(), || {
            let pointer = SectionKind::Reviews.pointer(orphan.index, "software_id");
            let location = orphan.file.location(orphan.place.clone(), pointer);
            Finding { code, location, message, help: help.to_owned(), related: Vec::new() }
        });
    }
}

pub(super) struct Orphan<'o> {
    pub(super) file: &'o SourceFile,
    pub(super) index: usize,
    /// The location of the product's id in the review.
    pub(super) place: Range<usize>,
    pub(super) product: &'o str,
    /// Whether the product exists but is left out.
    pub(super) product_exists: bool,
}
