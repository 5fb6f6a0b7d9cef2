//! The pages: what they show without scripts, to whom, and what search engines and caches see.

use std::io::Read as _;
use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};
use software_directory::http::{Face, HttpConfig, PublicUrl};
use software_directory::key::Rate;
use software_directory::update::Directory;

use crate::api::fixture;
use crate::api::service::{Answer, BROWSER, Service, Setup};

fn public() -> Service {
    public_with(fixture::directory())
}

fn public_with(directory: Arc<Directory>) -> Service {
    public_as(HttpConfig::default(), directory)
}

fn public_as(config: HttpConfig, directory: Arc<Directory>) -> Service {
    let public_url = Some(PublicUrl::parse("https://directory.example").expect("an address"));
    let config = HttpConfig { public_page: Rate::new(10_000), public_url, ..config };
    Setup { directory, config, ..Setup::default() }.start()
}

async fn read(service: &Service, path: &str) -> Answer {
    service.send(Method::GET, path, &[BROWSER]).await
}

#[tokio::test]
async fn words_that_no_product_contains_are_named() {
    let service = public();
    let named = async |q: &str| {
        let page = read(&service, &format!("/?q={q}")).await;
        let (_, named) = page.text().split_once("No product contains: ")?;
        named.split_once("</p>").map(|(words, _)| words.to_owned())
    };
    let word = "<b><bdi>xyzzyqq</bdi></b>";
    assert_eq!(named("gauge+xyzzyqq").await.as_deref(), Some(word));
    assert_eq!(
        named("xyzzyqq+software").await.as_deref(),
        Some(word),
        "only a general word is left, so nothing is found"
    );
    assert_eq!(named("xyzzyqq").await, None, "the headline says so");
}

/// The content of each JSON-LD script on a page.
fn json_ld(page: &Answer) -> Vec<Value> {
    let scripts = page.text().split("<script type=\"application/ld+json\">").skip(1);
    let scripts = scripts.map(|rest| rest.split("</script>").next().expect("an end"));
    scripts.map(|text| serde_json::from_str(text).expect("JSON")).collect()
}

#[tokio::test]
async fn claims_are_numbered_and_their_sources_listed_once() {
    let service = public();
    for path in ["/software/tool-rated", "/compare?id=tool-01&id=tool-rated"] {
        let page = read(&service, path).await;
        let (claims, sources) = page.text().split_once("role=\"doc-endnotes\"").expect("a list of sources");
        let mark = |number| format!("href=\"#source-{number}\" role=\"doc-noteref\" aria-label=\"Source {number}\">");
        assert_eq!([1, 2, 3].map(|number| claims.matches(&mark(number)).count()), [2, 1, 0], "{path}");
        assert_eq!(sources.matches("<li id=\"source-").count(), 2, "{path}");
        for part in [
            "href=\"https://rated.example/about\"",
            "<time datetime=\"2025-02-01\">",
            "<blockquote lang=\"\"><bdi>Made by &lt;Gauge Makers&gt;</bdi>",
            "href=\"https://archive.example/9001\"",
        ] {
            assert_eq!(sources.matches(part).count(), 1, "{path}: {part}");
        }
    }
    assert!(!read(&service, "/software/tool-01").await.text().contains("doc-endnotes"));
}

#[tokio::test]
async fn every_page_shows_its_content_without_a_script() {
    let service = public();
    for (path, parts) in [
        ("/", vec!["41 products", "2 exports", "href=\"/categories/tools\"", "CC BY 4.0"]),
        (
            "/?q=gauge",
            vec!["Rated <mark>Gauge</mark>", "Measures things", "Gauge Makers", "value=\"gauge\"", "1 March 2025"],
        ),
        ("/?q=", vec!["page=2", "Rated Gauge"]),
        ("/software/tool-rated", vec!["<h1><bdi>Rated Gauge", "4.5", "Home page", "12345678901234567890", "ISO 9001"]),
        ("/software/tool-reviewed", vec!["Good", "Ada", "verified user", "3 February 2025"]),
        ("/categories", vec!["Safety", "Staying in one piece", "href=\"/categories/empty\""]),
        ("/categories/safety", vec!["<h1><bdi>Safety", "Staying in one piece", "Lockout Planner"]),
        ("/glossary", vec!["Lockout tagout", "LOTO", "https://handbook.example/", "href=\"#letter-N\""]),
        ("/glossary?q=loto", vec!["Isolating energy", "value=\"loto\""]),
        ("/compare?id=tool-rated&id=tool-01", vec!["Rated Gauge", "Tool 1", "Not rated", "ISO 9001"]),
        ("/exports", vec!["CC BY 4.0", "href=\"/exports/tools\"", "30 June 2025"]),
    ] {
        let page = read(&service, path).await;
        assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        for part in parts {
            assert!(page.text().contains(part), "{path}: {part}: {}", page.text());
        }
        assert!(!page.text().contains("onclick") && !page.text().contains("style=\""), "{path}: inline");
        assert!(page.header("content-security-policy").contains("script-src 'self'"), "{path}");
        assert!(page.headers.get("access-control-allow-origin").is_none(), "{path}");
    }
}

#[tokio::test]
async fn filters_are_links_and_form_fields() {
    let service = public();
    let page = read(&service, "/?q=tool&category=Tools&min_rating=&offering_type=software&utm_source=x").await;
    for part in [
        "name=\"category\" value=\"tools\" id=\"category-tools\" form=\"find\" checked",
        // One link removes the category, and the other removes the type.
        "href=\"/?q=tool&amp;offering_type=software\"",
        "href=\"/?q=tool&amp;category=Tools\"",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(!page.text().contains("utm_source"));
    let wrong = read(&service, "/?min_rating=9").await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("min_rating must be a number from 0 to 5"), "{}", wrong.text());
    let part = service.send(Method::GET, "/results?q=gauge", &[]).await;
    assert!(
        part.text().starts_with("<div class=\"explore\"")
            || part.text().trim_start().starts_with("<div class=\"explore\"")
    );
    assert!(part.text().contains("<mark>Gauge</mark>") && !part.text().contains("<html"), "{}", part.text());
}

#[tokio::test]
async fn many_filters_can_only_be_removed_together() {
    let service = public();
    let remove_one = "title=\"Remove filter\"";
    for (count, links) in [(1, 1), (20, 20), (21, 0), (300, 0)] {
        let filters: Vec<_> = (0..count).map(|number| format!("category=c{number}")).collect();
        for path in [format!("/?{}", filters.join("&")), format!("/?category=safety&{}", filters[1..].join("&"))] {
            let page = read(&service, &path).await;
            assert_eq!(page.text().matches(remove_one).count(), links, "{path}");
            assert!(page.text().contains(&format!("<span class=\"count-badge\">{count}</span>")), "{path}");
            assert!(page.text().contains("href=\"/?q=\">Clear all"), "{path}");
        }
    }
}

#[tokio::test]
async fn a_page_that_found_nothing_suggests_what_to_do_next() {
    let service = public();
    let page = read(&service, "/?q=xyzzyplugh+lockout&category=Measuring").await;
    assert_eq!(page.status, 200);
    for part in ["No product matches", "Remove a filter", "href=\"/?q=lockout\"", "Without filters"] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let page = read(&service, "/?q=lockout+for+tools&category=Empty").await;
    assert!(
        page.text().contains("href=\"/?q=lockout\"") && !page.text().contains("href=\"/?q=for\""),
        "{}",
        page.text()
    );
    let filtered = read(&service, "/?q=lockuot+planer&category=Empty").await;
    assert!(filtered.text().contains("href=\"/?q=lockout+planner\""), "{}", filtered.text());
    let corrected = read(&service, "/?q=Gauge+lockuot").await;
    assert!(corrected.text().contains("<b><bdi>Gauge lockout</bdi></b>"), "{}", corrected.text());
}

#[tokio::test]
async fn a_page_that_found_nothing_suggests_other_queries_and_filters_to_remove() {
    let service = public();
    let similar = read(&service, "/?q=gawze").await;
    assert!(!similar.text().contains("id=\"filters\""), "nothing to filter");
    for part in
        ["No product matches", "Did you mean", "<a href=\"/?q=gauge\"><bdi>gauge</bdi> <span class=\"count\">1</span>"]
    {
        assert!(similar.text().contains(part), "{part}: {}", similar.text());
    }
    let filtered = read(&service, "/?q=gauge&category=Tools&min_rating=4").await;
    let without_category =
        "<a href=\"/?q=gauge&amp;min_rating=4\"><s><bdi>Tools</bdi></s> <span class=\"count\">1</span>";
    assert!(filtered.text().contains(without_category), "{}", filtered.text());
    assert!(!filtered.text().contains("<s><bdi>4 stars"), "removing the rating filter wouldn't help either");
    let category = read(&service, "/categories/empty").await;
    assert!(!category.text().contains("Remove a filter"), "{}", category.text());
}

#[tokio::test]
async fn corrections_that_would_make_a_query_too_long_are_not_offered() {
    let service = public();
    // Corrected, each word is one letter longer. `tol` could be two words.
    for word in ["planer", "lockot", "gawze", "tol"] {
        let q = vec![word; 256 / (word.len() + 1)].join("+");
        let q = format!("{q}{}", "+".repeat(256 - q.len()));
        for filters in ["", "&category=Empty", "&category=Empty&min_rating=5", "&tags=measuring&vendor=nobody"] {
            let page = read(&service, &format!("/?q={q}{filters}")).await;
            assert_eq!(page.status, 200, "{word} {filters}: {}", page.text());
        }
    }
}

#[tokio::test]
async fn pages_in_a_language_keep_it_and_link_to_the_others() {
    let service = public();
    for (path, tag, base, part) in [
        ("/", "en", "", "41 products"),
        ("/en", "en", "/en", "41 products"),
        ("/de/", "de", "/de", "41 Produkte"),
        ("/fr", "fr", "/fr", "41 produits"),
    ] {
        let page = read(&service, path).await;
        let text = page.text();
        assert!(text.contains(&format!("<html lang=\"{tag}\">")) && text.contains(part), "{path}");
        assert_eq!(page.header("content-language"), tag);
        let links = text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for link in links.filter(|link| link.starts_with('/')) {
            let is_page = !["/assets/", "/openapi.json", "/feed."].iter().any(|other| link.starts_with(other));
            let is_switch = ["/en/", "/de/", "/fr/"].contains(&link);
            assert!(!is_page || is_switch || link.starts_with(&format!("{base}/")), "{path}: {link}");
        }
    }
    let page = read(&service, "/de/software/tool-rated?review_sort=oldest&utm_source=x").await;
    for part in [
        "<link rel=\"canonical\" href=\"https://directory.example/de/software/tool-rated\">",
        "hreflang=\"x-default\" href=\"https://directory.example/software/tool-rated\"",
        "rel=\"alternate\" hreflang=\"en\" href=\"https://directory.example/software/tool-rated\"",
        "rel=\"alternate\" hreflang=\"fr\" href=\"https://directory.example/fr/software/tool-rated\"",
        "<a href=\"/de/software/tool-rated\" lang=\"de\" hreflang=\"de\" aria-current=\"true\">Deutsch</a>",
        "<a href=\"/fr/software/tool-rated\" lang=\"fr\" hreflang=\"fr\">Français</a>",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let english = read(&service, "/en/software/tool-rated").await;
    let canonical = "<link rel=\"canonical\" href=\"https://directory.example/software/tool-rated\">";
    assert!(english.text().contains(canonical), "one address in the directory's own language");
    assert!(read(&service, "/de/nowhere").await.text().contains("<html lang=\"de\">"));
}

#[tokio::test]
async fn only_pages_have_a_language_in_their_path() {
    let service = public();
    for path in [
        "/de/v1/software",
        "/de/mcp",
        "/de/openapi.json",
        "/de/sitemap.xml",
        "/de/robots.txt",
        "/de/healthz",
        "/de/feed.atom",
        "/de/feed.json",
        "/de/exports/tools",
        "/de/records/software/tool-rated",
        "/de/de/",
        "/DE/",
        "/de/assets/a/b",
    ] {
        assert_eq!(read(&service, path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn visitor_arriving_at_an_address_without_a_language_is_sent_to_theirs() {
    let service = public();
    let send = async |path: &str, headers: &[(&str, &str)]| {
        let headers = [headers, &[BROWSER, ("host", "directory.example")]].concat();
        let answer = service.send(Method::GET, path, &headers).await;
        (answer.status.as_u16(), answer.headers.get("location").map(|to| to.to_str().expect("ASCII").to_owned()))
    };
    let german = ("accept-language", "de-DE,de;q=0.9,en;q=0.8");
    let to = |location: &str| (303, Some(location.to_owned()));
    assert_eq!(send("/?q=gauge&category=measuring", &[german]).await, to("/de/?q=gauge&category=measuring"));
    assert_eq!(send("/software/tool-rated", &[german]).await, to("/de/software/tool-rated"));
    assert_eq!(send("/docs/errors", &[german]).await, to("/de/docs/errors"));
    assert_eq!(send("/", &[german, ("referer", "https://elsewhere.example/")]).await, to("/de/"));
    for headers in [
        &[][..],
        &[("accept-language", "en-GB,de;q=0.5")],
        &[("accept-language", "nl")],
        &[german, ("referer", "https://directory.example/software/tool-rated")],
        &[german, ("sec-fetch-site", "same-origin")],
        &[german, ("user-agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")],
        &[german, ("user-agent", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)")],
    ] {
        assert_eq!(send("/", headers).await, (200, None), "{headers:?}");
    }
    for path in ["/fr/", "/en/", "/results?q=gauge", "/suggest?q=gauge", "/openapi.json", "/sitemap.xml"] {
        assert_eq!(send(path, &[german]).await.0, 200, "{path}");
    }
    for (path, location) in [
        ("/software/tool-rated?lang=fr&review_sort=oldest", "/fr/software/tool-rated?review_sort=oldest"),
        ("/de/?q=a%26b&lang=en", "/en/?q=a%26b"),
        ("/?lang=de-AT", "/de/"),
    ] {
        assert_eq!(send(path, &[german, ("user-agent", "Googlebot")]).await, to(location), "{path}");
    }
    assert_eq!(send("/?lang=xx", &[]).await, (200, None));
}

#[tokio::test]
async fn search_engines_read_descriptions_and_structured_data() {
    let service = public();
    let page = read(&service, "/software/tool-rated").await;
    for part in [
        "<title>Rated Gauge · Software Directory</title>",
        "<meta name=\"description\" content=\"Measures things\">",
        "<link rel=\"canonical\" href=\"https://directory.example/software/tool-rated\">",
        "<meta property=\"og:title\" content=\"Rated Gauge\">",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let [application, breadcrumbs] = &json_ld(&page)[..] else { panic!("{:?}", json_ld(&page)) };
    assert_eq!(application["@type"], "SoftwareApplication");
    assert_eq!(application["aggregateRating"]["ratingValue"], 4.5);
    assert_eq!(application["aggregateRating"]["reviewCount"], 7);
    assert_eq!(breadcrumbs["itemListElement"][1]["name"], "Measuring");
    let unrated = read(&service, "/software/tool-01").await;
    assert!(json_ld(&unrated)[0].get("aggregateRating").is_none());
    let terms = &json_ld(&read(&service, "/glossary").await)[0];
    assert_eq!(terms["hasDefinedTerm"][0]["@type"], "DefinedTerm");
    assert!(!page.text().contains("noindex"));
}

#[tokio::test]
async fn private_pages_and_previews_are_not_indexed() {
    let service = Service::with_directory();
    let page = service.visit("/software/tool-rated").await;
    assert!(page.text().contains("<meta name=\"robots\" content=\"noindex\">"), "{}", page.text());
    assert!(!page.text().contains("ld+json") && !page.text().contains("og:"));
    assert_eq!(read(&service, "/robots.txt").await.text(), "User-agent: *\nDisallow: /\n");
    assert_eq!(service.visit("/sitemap.xml").await.status, 404);
}

#[tokio::test]
async fn sitemap_lists_every_page_and_robots_txt_names_it() {
    let service = public();
    assert!(read(&service, "/robots.txt").await.text().contains("Sitemap: https://directory.example/sitemap.xml"));
    let map = read(&service, "/sitemap.xml").await;
    assert_eq!(map.header("content-type"), "application/xml; charset=utf-8");
    let addresses = map.text().matches("<loc>").count() as u64;
    let categories = service.get("/v1/categories").await.json()["pagination"]["total"].as_u64().expect("a number");
    assert_eq!(addresses, fixture::PRODUCTS + categories + 5, "{}", map.text());
    assert!(map.text().contains("<loc>https://directory.example/software/tool-rated</loc>"), "{}", map.text());
    assert!(map.text().trim_end().ends_with("</urlset>"));
}

#[tokio::test]
async fn own_pages_are_in_the_sitemap_in_each_of_their_languages() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["about.md", "about.de.md", "imprint.en.md", "imprint.fr.md"] {
        std::fs::write(folder.path().join(file), "# About").expect("written");
    }
    let site = Face::read(&json!({"pages": folder.path()}).to_string()).expect("settings");
    let service = public_as(HttpConfig { site, ..HttpConfig::default() }, fixture::directory());
    let map = read(&service, "/sitemap.xml").await;
    let paths = map.text().split("<loc>https://directory.example").filter_map(|rest| rest.split("</loc>").next());
    let paths: Vec<_> = paths.filter(|path| path.contains("/pages/")).collect();
    assert_eq!(paths, ["/pages/about", "/de/pages/about", "/pages/imprint", "/fr/pages/imprint"]);
    for path in paths {
        assert_eq!(read(&service, path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn logos_are_on_every_page_that_shows_a_product() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tool-rated.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>").expect("written");
    let site = Face::read(&json!({"logos": folder.path()}).to_string()).expect("settings");
    let service = public_as(HttpConfig { site, ..HttpConfig::default() }, fixture::directory());
    for (path, has_logo, has_initial) in [
        ("/?q=gauge", true, false),
        ("/software/tool-rated", true, false),
        ("/software/tool-01", false, true),
        ("/compare?id=tool-rated&id=tool-01", true, true),
    ] {
        let page = read(&service, path).await;
        let end = if path.starts_with("/software") { "</h1>" } else { "</html>" };
        let (shown, _) = page.text().split_once(end).expect("a page");
        assert_eq!(shown.contains("/logos/tool-rated\" alt=\"\""), has_logo, "{path}: {shown}");
        assert_eq!(shown.contains("<span class=\"initial\""), has_initial, "{path}: {shown}");
    }
}

#[tokio::test]
async fn sitemap_is_a_compressed_download() {
    let service = public();
    let map = read(&service, "/sitemap.xml").await;
    assert_eq!(map.header("content-length"), map.body.len().to_string());
    let gzip = [BROWSER, ("accept-encoding", "gzip, br")];
    let compressed = service.send(Method::GET, "/sitemap.xml", &gzip).await;
    assert_eq!(compressed.header("content-encoding"), "gzip");
    assert_eq!(compressed.header("content-length"), compressed.body.len().to_string());
    let mut xml = String::new();
    flate2::read::GzDecoder::new(&*compressed.body).read_to_string(&mut xml).expect("gzip");
    assert_eq!(xml, map.text());
    let tag = [BROWSER, ("if-none-match", map.header("etag"))];
    assert_eq!(service.send(Method::GET, "/sitemap.xml", &tag).await.status, 304);
    let busy = public_as(HttpConfig { search_threads: 0, ..HttpConfig::default() }, fixture::directory());
    for _ in 0..2 {
        let shed = read(&busy, "/sitemap.xml").await;
        assert_eq!((shed.status.as_u16(), shed.header("retry-after")), (503, "1"), "before its first byte");
    }
}

#[tokio::test]
async fn large_sitemap_is_split_into_parts_that_contain_every_url_once() {
    let addresses = |map: &Answer| -> Vec<String> {
        let addresses = map.text().split("<loc>").skip(1).map(|rest| rest.split("</loc>").next().expect("an end"));
        addresses.map(str::to_owned).collect()
    };
    let all = addresses(&read(&public(), "/sitemap.xml").await);
    let service = public_as(HttpConfig { sitemap_addresses: 10, ..HttpConfig::default() }, fixture::directory());
    let index = read(&service, "/sitemap.xml").await;
    assert!(index.text().contains("<sitemapindex") && !index.text().contains("<urlset"), "{}", index.text());
    let mut found = Vec::new();
    for part in addresses(&index) {
        let path = part.strip_prefix("https://directory.example").expect("an address on this host");
        let part = addresses(&read(&service, path).await);
        assert!((1..=10).contains(&part.len()), "{path}: {part:?}");
        found.extend(part);
    }
    assert_eq!(found, all);
    for unknown in [format!("/sitemap/{}.xml", all.len().div_ceil(10)), "/sitemap/x.xml".to_owned()] {
        assert_eq!(read(&service, &unknown).await.status, 404, "{unknown}");
    }
    let fits =
        public_as(HttpConfig { sitemap_addresses: all.len() as u64, ..HttpConfig::default() }, fixture::directory());
    assert_eq!(addresses(&read(&fits, "/sitemap.xml").await), all, "exactly as many addresses as fit");
}

#[tokio::test]
async fn large_glossary_has_a_page_for_each_letter() {
    let term = |letter: &str, at: usize| json!({"term": format!("{letter}-term {at:03}"), "definition": "About it."});
    let terms: Vec<_> = (0..205).map(|at| term("a", at)).chain((0..3).map(|at| term("Ä", 500 + at))).collect();
    let terms: Vec<_> = terms.into_iter().chain((0..2).map(|at| term("b", at))).collect();
    let document = json!({"name": "Terms", "license": "https://example.org/", "software": [], "glossary": terms});
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("terms", &document.to_string())]));
    let service = public_with(directory.into());
    let shown = async |path| read(&service, path).await.text().matches("<article").count();
    for (path, terms) in [
        ("/glossary", 200),
        ("/glossary?page=2", 8),
        ("/glossary?letter=A&page=2", 8),
        ("/glossary?letter=B", 2),
        ("/glossary?letter=nowhere", 200),
        ("/glossary?q=term", 200),
        ("/glossary?q=term&page=2", 10),
    ] {
        assert_eq!(shown(path).await, terms, "{path}");
    }
    let page = read(&service, "/glossary").await;
    for part in [
        "href=\"/glossary?letter=A\" aria-current=\"page\"",
        "href=\"/glossary?letter=B\"",
        "<span class=\"total\">210",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let page = read(&service, "/glossary?letter=A").await;
    assert!(page.text().contains("href=\"/glossary?letter=A&amp;page=2\" rel=\"next\""), "{}", page.text());
}

#[tokio::test]
async fn removed_product_is_gone_but_an_unknown_one_is_not_found() {
    let service = public();
    let unknown = read(&service, "/software/no-such-thing").await;
    assert_eq!(unknown.status, 404);
    assert!(unknown.text().contains("Page not found"));
    let program = service.send(Method::GET, "/software/no-such-thing", &[]).await;
    assert_eq!(program.problem(), (404, "software_not_found".to_owned()));
}

#[tokio::test]
async fn former_category_id_redirects() {
    let document = json!({
        "name": "Codes", "license": "https://example.org/",
        "software": [{"id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review",
            "category": "C++"}]
    });
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("codes", &document.to_string())]));
    let service = public_with(directory.into());
    let former = read(&service, "/categories/c").await;
    assert_eq!((former.status.as_u16(), former.header("location")), (308, "/categories/c-plus-plus"));
    assert_eq!(read(&service, "/categories/nowhere").await.status, 404);
}

#[tokio::test]
async fn public_pages_may_be_cached_and_private_ones_only_by_their_reader() {
    let service = public();
    let page = read(&service, "/").await;
    assert_eq!(page.header("cache-control"), "public, max-age=60, stale-while-revalidate=600");
    let vary: Vec<_> = page.headers.get_all("vary").iter().collect();
    assert_eq!(vary, ["Accept-Encoding", "Accept-Language, Sec-Fetch-Site"]);
    assert_eq!(read(&service, "/de/").await.headers.get_all("vary").iter().count(), 1, "never redirected");
    let tag = page.header("etag").to_owned();
    let again = service.send(Method::GET, "/", &[BROWSER, ("if-none-match", &tag)]).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    assert_eq!(again.header("vary"), page.header("vary"));
    let german = service.send(Method::GET, "/de/", &[BROWSER, ("if-none-match", &tag)]).await;
    assert_eq!(german.status, 200, "another language");
    let service = Service::with_directory();
    let page = service.visit("/").await;
    assert_eq!(page.header("cache-control"), "private, no-cache");
    assert!(page.header("vary").starts_with("Cookie"), "{:?}", page.headers);
}

#[tokio::test]
async fn full_search_pool_keeps_the_query() {
    let config = HttpConfig { public_page: Rate::new(100), search_threads: 0, ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, ..Setup::default() }.start();
    let page = read(&service, "/?q=gauge").await;
    assert_eq!((page.status.as_u16(), page.header("retry-after")), (503, "1"));
    assert!(
        page.text().contains("value=\"gauge\"") && page.text().contains("The directory is busy"),
        "{}",
        page.text()
    );
    let program = service.send(Method::GET, "/?q=gauge", &[]).await;
    assert_eq!(program.problem(), (503, "overloaded".to_owned()));
}

#[tokio::test]
async fn page_before_the_first_generation_says_that_the_directory_is_loading() {
    let config = HttpConfig { public_page: Rate::new(100), ..HttpConfig::default() };
    let page = read(&Setup { config, ..Setup::default() }.start(), "/").await;
    assert_eq!((page.status.as_u16(), page.header("retry-after")), (503, "5"));
    assert!(page.text().contains("The directory is loading"), "{}", page.text());
}

#[tokio::test]
async fn reader_with_too_many_requests_is_told_how_long_to_wait() {
    let config = HttpConfig { public_page: Rate::new(1), ..HttpConfig::default() };
    let service = Setup { directory: fixture::directory(), config, ..Setup::default() }.start();
    assert_eq!(read(&service, "/").await.status, 200);
    for (language, before, after) in [("en", "Try again in ", " second"), ("de", "Versuchen Sie es in ", " Sekunde")] {
        let page = read(&service, &format!("/{language}/?q=gauge")).await;
        let seconds = page.header("retry-after").to_owned();
        assert_eq!(page.status, 429);
        assert!(seconds.parse::<u64>().expect("whole seconds") > 0);
        assert!(page.text().contains(&format!("{before}{seconds}{after}")), "{seconds}: {}", page.text());
        let again = format!("href=\"/{language}/?q=gauge\"");
        assert!(page.text().contains(&again), "a link to try again");
    }
}

#[tokio::test]
async fn tiers_are_marked_in_the_ranking() {
    let software: Vec<_> = (1..=25)
        .map(|at| {
            json!({"id": format!("gauge-{at}"), "name": format!("Gauge {at}"), "url": "https://a.example/",
                "evidence_status": "pending-review", "tagline": (at == 1).then_some("planner")})
        })
        .collect();
    let document = json!({
        "name": "Tools", "license": "https://example.org/", "software": software,
        "pins": [{"queries": ["gauge planner"], "software": ["gauge-7"]}]
    });
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&[("tools", &document.to_string())]));
    let service = public_with(directory.into());
    let page = read(&service, "/?q=gauge+planner").await;
    let places = [
        "<span class=\"total\">2</span>",
        "23 more with only some of the words",
        "Gauge</mark> 7<",
        "Chosen by the editors",
        "Gauge</mark> 1<",
        "Gauge</mark> 2<",
    ];
    let places = places.map(|part| page.text().find(part).unwrap_or_else(|| panic!("{part}: {}", page.text())));
    assert!(places.is_sorted(), "{places:?}: {}", page.text());
    assert_eq!(page.text().matches("Chosen by the editors").count(), 1);
    let unranked = read(&service, "/?q=gauge+planner&sort=name").await;
    assert!(!unranked.text().contains("Chosen by the editors"), "{}", unranked.text());
}

/// Exports with one product each: an id, a name and a website.
fn exports(products: &[(&str, &str, &str)]) -> Service {
    let document = |(id, name, url): &(&str, &str, &str)| {
        let software = json!([{"id": id, "name": name, "url": url, "aliases": ["Alias"], "pricing": "Free",
            "evidence_status": "pending-review", "deployment": ["cloud"], "category": "Cloud storage"}]);
        (
            id.to_string(),
            json!({"name": format!("List of {id}"), "license": "https://example.org/", "software": software}),
        )
    };
    let documents: Vec<_> = products.iter().map(document).collect();
    let documents: Vec<_> = documents.iter().map(|(id, text)| (id.as_str(), text.to_string())).collect();
    let documents: Vec<_> = documents.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let directory = Directory::default();
    directory.publish(fixture::snapshot(&documents));
    public_with(directory.into())
}

#[tokio::test]
async fn a_product_in_several_exports_has_one_row_that_names_them() {
    let site = "https://store.example.org/";
    let service = exports(&[("a", "Nimbus", site), ("b", "nimbus", site), ("c", "Other", "https://c.example.org/")]);
    let page = read(&service, "/?q=").await;
    assert_eq!(page.text().matches("<li class=\"result\">").count(), 2, "{}", page.text());
    for part in [
        "<span class=\"total\">3</span>",
        "Also in another export: <a href=\"/software/a\"><bdi>List of a</bdi></a>",
        "<bdi>List of b</bdi></span>",
        "<dt><bdi>Pricing</bdi></dt><dd><bdi>Free</bdi></dd>",
        "<dt><bdi>Deployment</bdi></dt><dd><bdi>cloud</bdi></dd>",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(!read(&public(), "/").await.text().contains("Rated Gauge"), "fictional products don't lead the home page");
    let single = exports(&[("a", "Nimbus", site)]);
    assert!(!read(&single, "/?q=").await.text().contains("List of a</bdi></span>"));
}

#[tokio::test]
async fn each_hit_says_why_it_was_found() {
    let service = exports(&[
        ("a", "Nimbus", "https://a.example.org/"),
        ("b", "Cirrus", "https://b.example.org/"),
        ("c", "Stratus", "https://c.example.org/"),
    ]);
    let alternatives = read(&service, "/?q=nimbus+alternatives").await;
    let reason = "<span class=\"quiet\">In common:</span> <bdi>Cloud storage</bdi>";
    assert_eq!(alternatives.text().matches(reason).count(), 2, "{}", alternatives.text());
    assert!(!alternatives.text().contains("<mark>"), "{}", alternatives.text());
    let deployment = read(&service, "/?q=cloud+nimbus").await;
    assert!(deployment.text().contains("<mark>"), "{}", deployment.text());
}

#[tokio::test]
async fn excerpt_of_a_tagline_is_marked_within_it() {
    let tagline = format!("{}altostratus {}", "Forecasts & reports. ".repeat(10), "Clouds of all kinds. ".repeat(10));
    let export = json!({"name": "N", "license": "https://example.org/", "software": [{
        "id": "a", "name": "A", "url": "https://a.example/", "evidence_status": "pending-review", "tagline": tagline
    }]});
    let directory = Arc::<Directory>::default();
    directory.publish(fixture::snapshot(&[("a", &export.to_string())]));
    let page = read(&public_with(directory), "/?q=altostratus").await;
    let marked = "Forecasts &amp; reports. <mark>altostratus</mark> Clouds";
    assert!(page.text().contains(marked), "{}", page.text());
    assert_eq!(page.text().matches("<mark>").count(), 1, "{}", page.text());
}

#[tokio::test]
async fn choices_for_a_comparison_are_kept_without_scripts() {
    let service = public();
    let page = read(&service, "/?q=gauge&id=tool-01&id=tool-rated&id=tool-01").await;
    for part in [
        // Only one of the two has a row.
        "<input type=\"hidden\" name=\"id\" value=\"tool-01\" form=\"find\">",
        "name=\"id\" value=\"tool-rated\" form=\"find\" data-name=\"Rated Gauge\" checked",
        "href=\"/?q=gauge&amp;id=tool-rated\"",
        "formaction=\"/compare\"",
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let sent = read(&service, "/compare?q=gauge&category=&id=tool-01&id=tool-rated").await;
    assert_eq!((sent.status.as_u16(), sent.header("location")), (303, "/compare?id=tool-01&id=tool-rated"));
    let german = read(&service, "/de/compare?q=gauge&id=tool-01").await;
    assert_eq!((german.status.as_u16(), german.header("location")), (303, "/de/compare?id=tool-01"));
    let all = read(&service, "/compare?id=tool-01&id=tool-rated").await;
    assert!(all.text().contains("<th scope=\"row\">Type</th>"), "{}", all.text());
    assert!(all.text().contains("href=\"/compare?id=tool-01&amp;id=tool-rated&amp;only=differences\""));
    let different = read(&service, "/compare?id=tool-01&id=tool-rated&only=differences").await;
    assert!(!different.text().contains("<th scope=\"row\">Type</th>"), "{}", different.text());
    assert!(different.text().contains("<th scope=\"row\">Rating</th>"), "{}", different.text());
}

#[tokio::test]
async fn documentation_is_english_in_a_frame_in_the_readers_language() {
    let service = public();
    for (language, parts) in [
        (
            "de",
            ["<html lang=\"de\">", "<title>Fehler · ", ">Versionierung</a>", "data-copied=\"Kopiert\"", "Hauptmenü"],
        ),
        ("en", ["<html lang=\"en\">", "<title>Errors · ", ">Versioning</a>", "data-copied=\"Copied\"", "Main"]),
    ] {
        let page = read(&service, &format!("/{language}/docs/errors")).await;
        for part in parts {
            assert!(page.text().contains(part), "{part}: {}", page.text());
        }
        assert!(page.text().contains("<main id=\"content\" tabindex=\"-1\" lang=\"en\""), "{}", page.text());
    }
    let wrong = read(&service, "/fr/?min_rating=9").await;
    assert!(wrong.text().contains("<p lang=\"en\">min_rating must be"), "{}", wrong.text());
}
