//! `robots.txt`: what crawlers may read.

use std::fmt::Write as _;

use super::site::Site;

pub(super) fn robots(site: &Site) -> String {
    let base = &site.base;
    if !site.is_indexable() {
        return "User-agent: *\nDisallow: /\n".to_owned();
    }
    let mut text = "User-agent: *\n".to_owned();
    for path in ["compare", "records/", "results", "suggest", "v1/"] {
        // Writing to a string can't fail.
        let _ = writeln!(text, "Disallow: {base}/{path}");
    }
    if !site.public.is_empty() {
        let _ = writeln!(text, "\nSitemap: {}/sitemap.xml", site.public);
    }
    text
}
