//! The frame of all pages, and placeholders in HTML.

/// The document around each page: head, header and footer.
const FRAME: &str = include_str!("frame.html");

/// The parts for pages that don't define their own.
const DEFAULTS: &str = include_str!("frame-defaults.html");

/// Puts a page's parts into the frame. In `page`, each part follows a line `{{#name}}` with its
/// name.
pub(super) fn framed(page: &str) -> String {
    fill(FRAME, &parts(page).chain(parts(DEFAULTS)).collect::<Vec<_>>())
}

fn parts(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("{{#").filter_map(|part| part.split_once("}}\n"))
}

/// Replaces a template's placeholders, `{{name}}`, with the first value of that name; values are
/// HTML. Placeholders inside values aren't replaced, and ones without a value are kept.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let placeholder = part.split_once("}}").and_then(|(name, rest)| {
            let (_, value) = values.iter().find(|(of, _)| *of == name)?;
            Some([value, rest])
        });
        match placeholder {
            Some(filling) => filled.extend(filling),
            None => filled.extend(["{{", part]),
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once() {
        let values = [("title", "{{base}} {{title}}"), ("base", "/b")];
        assert_eq!(fill("{{base}}: {{title}}, {{other}} {{ }}", &values), "/b: {{base}} {{title}}, {{other}} {{ }}");
        assert_eq!(fill("", &values), "");
    }

    #[test]
    fn parts_of_a_page_replace_the_defaults() {
        let html = framed("{{#title}}\n<title>{{site}}</title>\n{{#links}}\n{{#main}}\n<main>{{content}}</main>\n");
        assert!(html.contains("<title>{{site}}</title>\n<link rel=\"icon\""), "{html}");
        assert!(html.contains("</header>\n<main>{{content}}</main>\n<footer"), "{html}");
        assert!(html.contains("<a href=\"{{base}}/categories\">"), "the default navigation: {html}");
        assert!(!html.contains("API reference"), "an empty part: {html}");
        assert!(!html.contains("{{#"), "{html}");
    }

    #[test]
    fn every_part_of_a_page_has_a_place_in_the_frame() {
        let pages = [
            DEFAULTS,
            include_str!("docs/layout.html"),
            include_str!("not-found.html"),
            include_str!("page/index.html"),
            include_str!("preview.html"),
        ];
        for (name, _) in pages.into_iter().flat_map(parts) {
            assert!(FRAME.contains(&format!("{{{{{name}}}}}")), "{name}");
        }
    }
}
