//! The rules for query parameters.

use crate::api::service::Service;

/// Sends a request and expects a 400 with this code, this parameter's name, and this text in the
/// message.
async fn refused(service: &Service, path: &str, code: &str, parameter: &str, says: &str) {
    let answer = service.get(path).await;
    assert_eq!(answer.problem(), (400, code.to_owned()), "{path}");
    let problem = answer.json();
    let error = &problem["errors"][0];
    assert_eq!((error["param"].as_str(), error["code"].as_str()), (Some(parameter), Some(code)), "{path}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains(says), "{path}: {message}");
    assert_eq!(problem["detail"], message, "{path}: if there's only one problem, the detail repeats it");
}

#[tokio::test]
async fn malformed_and_out_of_range_numbers_are_refused_and_never_clamped() {
    let service = Service::with_directory();
    let long = "9".repeat(400);
    let lists = ["/v1/software", "/v1/search", "/v1/categories", "/v1/glossary", "/v1/exports", "/v1/reviews/tool-01"];
    for list in lists {
        for value in ["0", "101", "-1", "+5", "%2B5", "1.5", "", "%20", "1e1", "twenty", &long] {
            let path = format!("{list}?limit={value}");
            refused(&service, &path, "invalid_parameter", "limit", "a whole number from 1 to 100").await;
        }
        for value in ["-1", "+5", "1.5", "", "x", &long] {
            let path = format!("{list}?offset={value}");
            refused(&service, &path, "invalid_parameter", "offset", "must be a whole number").await;
        }
        refused(&service, &format!("{list}?limit"), "invalid_parameter", "limit", "from 1 to 100").await;
        assert_eq!(service.get(&format!("{list}?limit=1")).await.json()["pagination"]["limit"], 1);
        assert_eq!(service.get(&format!("{list}?limit=100&offset=0")).await.json()["pagination"]["limit"], 100);
    }
}

#[tokio::test]
async fn lists_have_their_documented_page_size() {
    let service = Service::with_directory();
    for (path, limit) in [
        ("/v1/software", 20),
        ("/v1/search", 20),
        ("/v1/glossary", 20),
        ("/v1/exports", 20),
        ("/v1/reviews/tool-01", 20),
        ("/v1/categories", 100),
    ] {
        let pagination = &service.get(path).await.json()["pagination"];
        assert_eq!((pagination["limit"].as_u64(), pagination["offset"].as_u64()), (Some(limit), Some(0)), "{path}");
    }
}

#[tokio::test]
async fn with_a_query_pages_end_at_offset_10_000() {
    let service = Service::with_directory();
    for list in ["/v1/software", "/v1/search", "/v1/glossary"] {
        refused(&service, &format!("{list}?q=tool&offset=10001"), "offset_too_large", "offset", "/v1/exports").await;
        let refusal = service.get(&format!("{list}?q=tool&offset=10001")).await.json();
        let message = refusal["errors"][0]["message"].as_str().expect("a message");
        assert!(message.contains("at most 10000 with q; "), "{list}: {message}");
        assert_eq!(service.get(&format!("{list}?q=tool&offset=10000")).await.status, 200);
        for blank in ["", "q=&", "q=+%20&"] {
            let beyond = service.get(&format!("{list}?{blank}offset=9007199254740991")).await;
            assert_eq!(
                (beyond.status.as_u16(), beyond.json()["data"].as_array().map(Vec::len)),
                (200, Some(0)),
                "{list}"
            );
        }
    }
}

#[tokio::test]
async fn a_query_has_at_most_256_characters() {
    let service = Service::with_directory();
    for list in ["/v1/software", "/v1/search", "/v1/glossary"] {
        for character in ["a", "(", "%C3%A9", "%F0%9F%98%80"] {
            let fits = service.get(&format!("{list}?q={}", character.repeat(256))).await;
            assert_eq!(fits.status, 200, "{list} {character}");
            let path = format!("{list}?q={}", character.repeat(257));
            refused(&service, &path, "invalid_parameter", "q", "at most 256 characters; this has 257").await;
        }
    }
}

#[tokio::test]
async fn error_for_an_unknown_parameter_names_the_nearest_and_all_allowed_parameters() {
    let service = Service::with_directory();
    refused(&service, "/v1/software?limt=5", "unknown_parameter", "limt", "Did you mean limit?").await;
    refused(&service, "/v1/software?Category=x", "unknown_parameter", "Category", "Did you mean category?").await;
    refused(&service, "/v1/search?zzz=5", "unknown_parameter", "zzz", "Allowed: q, category,").await;
    refused(&service, "/v1/software?facets=category", "unknown_parameter", "facets", "Allowed:").await;
    refused(&service, "/v1/categories?q=x", "unknown_parameter", "q", "Allowed: lang, limit, offset.").await;
    refused(&service, "/v1/software/tool-01?fields=name", "unknown_parameter", "fields", "Allowed: lang.").await;
    refused(&service, "/v1/software/no-such?fields=name", "unknown_parameter", "fields", "Allowed: lang.").await;
    refused(&service, "/v1/exports/tools?limit=1", "unknown_parameter", "limit", "Allowed: format.").await;
    refused(&service, "/v1/search?%FF=1", "invalid_parameter", "\u{FFFD}", "UTF-8").await;
}

#[tokio::test]
async fn only_repeatable_parameters_may_be_given_twice() {
    let service = Service::with_directory();
    for (list, parameter, value) in [
        ("/v1/software", "limit", "5"),
        ("/v1/software", "offset", "0"),
        ("/v1/software", "q", "tool"),
        ("/v1/software", "sort", "name"),
        ("/v1/software", "min_rating", "1"),
        ("/v1/search", "highlight", "true"),
        ("/v1/search", "typo", "true"),
        ("/v1/search", "offering_type", "software"),
        ("/v1/exports/tools", "format", "json"),
    ] {
        let path = format!("{list}?{parameter}={value}&{parameter}={value}");
        refused(&service, &path, "invalid_parameter", parameter, "must be given only once").await;
    }
    for path in
        ["/v1/software?category=tools&category=safety", "/v1/search?facets=category&facets=rating&facets=rating"]
    {
        assert_eq!(service.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_value_that_is_not_utf_8_is_reported_with_its_parameter() {
    let service = Service::with_directory();
    for (path, parameter) in [
        ("/v1/software?q=%FF", "q"),
        ("/v1/search?q=caf%C3", "q"),
        ("/v1/software?category=%C0%AF", "category"),
        ("/v1/software?limit=%FF", "limit"),
        ("/v1/search?sort=%ED%A0%80", "sort"),
    ] {
        refused(&service, path, "invalid_parameter", parameter, "must be percent-encoded UTF-8").await;
    }
}

#[tokio::test]
async fn unknown_values_are_reported_with_the_nearest_valid_one() {
    let service = Service::with_directory();
    for (path, parameter, says) in [
        (
            "/v1/software?sort=ratings",
            "sort",
            "must be one of name, -rating, rating, -review_count, -evidence_checked_on, attribute.PROPERTY; did you mean rating?",
        ),
        ("/v1/software?sort=relevance", "sort", "must be one of name, -rating, rating, -review_count"),
        ("/v1/software?sort=", "sort", "must be one of"),
        (
            "/v1/search?sort=Name",
            "sort",
            "must be one of relevance, -rating, rating, -review_count, -evidence_checked_on, name, attribute.PROPERTY; did you mean name?",
        ),
        ("/v1/search?facets=categories", "facets", "did you mean category?"),
        ("/v1/software?offering_type=documents", "offering_type", "software, document-templates"),
        ("/v1/software?evidence_status=pending", "evidence_status", "vendor-sources-reviewed, pending-review"),
        ("/v1/search?highlight=yes", "highlight", "must be true or false"),
        ("/v1/search?typo=", "typo", "must be true or false"),
        ("/v1/exports/tools?format=csv", "format", "must be one of json, ndjson"),
        ("/v1/software?min_rating=5.1", "min_rating", "from 0 to 5"),
        ("/v1/software?min_rating=NaN", "min_rating", "from 0 to 5"),
        ("/v1/software?min_rating=-0", "min_rating", "from 0 to 5"),
        ("/v1/software?evidence_checked_before=2025-02-30", "evidence_checked_before", "YYYY-MM-DD"),
        ("/v1/software?evidence_checked_before=01.02.2025", "evidence_checked_before", "YYYY-MM-DD"),
        ("/v1/software?category=", "category", "must not be empty"),
    ] {
        refused(&service, path, "invalid_parameter", parameter, says).await;
    }
}

#[tokio::test]
async fn all_problems_with_a_request_are_reported_at_once() {
    let service = Service::with_directory();
    let answer = service.get("/v1/search?limt=5&limit=0&sort=best&q=%FF").await;
    assert_eq!(answer.problem(), (400, "unknown_parameter".to_owned()));
    let problem = answer.json();
    let named: Vec<_> =
        problem["errors"].as_array().expect("errors").iter().filter_map(|error| error["param"].as_str()).collect();
    assert_eq!(named, ["limt", "q", "sort", "limit"]);
}
