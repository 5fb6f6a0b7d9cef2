//! Documents the error codes with cause and cure, at the URL that a problem document's `type`
//! points to.

use std::fmt::Write as _;

use crate::http::problem::ErrorCode;
use crate::text::html::escape;

pub(super) fn sections() -> String {
    let mut sections = String::new();
    for code in ErrorCode::ALL {
        // Writing to a string can't fail.
        let _ = writeln!(
            sections,
            "<section id=\"{name}\">\n<h2><a href=\"#{name}\"><code>{name}</code></a> <span class=\"status\">{status}</span></h2>\n\
             <p>{cause}</p>\n<p class=\"cure\"><b>Cure:</b> {cure}</p>\n</section>",
            name = code.as_str(),
            status = code.status().as_u16(),
            cause = escape(code.cause()),
            cure = escape(code.cure()),
        );
    }
    sections
}
