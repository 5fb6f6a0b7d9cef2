//! Requests by route: which template a path belongs to, and the counters of each, found without looking a label up.

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec};

/// Methods that are told apart; all others are one label.
const METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", OTHER];

/// Statuses that the service answers; all others are one label.
const STATUSES: [u16; 15] = [200, 204, 304, 400, 401, 403, 404, 405, 408, 414, 429, 431, 500, 503, 0];

const OTHER: &str = "other";

/// The label of paths that are no route's.
const UNMATCHED: &str = "unmatched";

/// One of the service's routes, or none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct RouteId(usize);

/// All routes by their templates, so that whatever callers make up, there are no more labels than routes.
#[derive(Debug)]
pub(super) struct Routes {
    matcher: matchit::Router<usize>,
    routes: Vec<Route>,
}

/// A route's counters. Each is made when it is first needed and then only counted up.
#[derive(Debug)]
struct Route {
    template: String,
    requests: [[OnceLock<Option<IntCounter>>; STATUSES.len()]; METHODS.len()],
    duration: OnceLock<Option<Histogram>>,
}

impl Routes {
    /// The routes of these templates. One that contradicts another isn't told apart from paths that are no route's.
    pub(super) fn new(templates: impl IntoIterator<Item = String>) -> Self {
        let mut routes = vec![Route::new(UNMATCHED.to_owned())];
        let mut matcher = matchit::Router::new();
        for template in templates {
            if matcher.insert(template.as_str(), routes.len()).is_ok() {
                routes.push(Route::new(template));
            }
        }
        Self { matcher, routes }
    }

    /// The route of a path without a slash at its end.
    pub(super) fn of(&self, path: &str) -> RouteId {
        RouteId(self.matcher.at(path).map_or(0, |found| *found.value))
    }

    /// Counts an answer.
    pub(super) fn answered(
        &self,
        RouteId(route): RouteId,
        method: &Method,
        status: StatusCode,
        took: Duration,
        (requests, durations): (&IntCounterVec, &HistogramVec),
    ) {
        let Some(route) = self.routes.get(route) else { return };
        let method = METHODS.iter().position(|known| *known == method.as_str()).unwrap_or(METHODS.len() - 1);
        let status = STATUSES.iter().position(|known| *known == status.as_u16()).unwrap_or(STATUSES.len() - 1);
        let counter = route.requests[method][status].get_or_init(|| {
            let status = if STATUSES[status] == 0 { OTHER.to_owned() } else { STATUSES[status].to_string() };
            requests.get_metric_with_label_values(&[route.template.as_str(), METHODS[method], &status]).ok()
        });
        if let Some(counter) = counter {
            counter.inc();
        }
        let duration =
            route.duration.get_or_init(|| durations.get_metric_with_label_values(&[route.template.as_str()]).ok());
        if let Some(duration) = duration {
            duration.observe(took.as_secs_f64());
        }
    }

    #[cfg(test)]
    pub(super) fn template(&self, RouteId(route): RouteId) -> &str {
        &self.routes[route].template
    }
}

impl Route {
    fn new(template: String) -> Self {
        Self { template, requests: Default::default(), duration: OnceLock::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_label_of_its_route_and_never_its_own() {
        let routes = Routes::new(["/v1/software".to_owned(), "/v1/software/{id}".to_owned(), "/".to_owned()]);
        for (path, template) in [
            ("/", "/"),
            ("/v1/software", "/v1/software"),
            ("/v1/software/a", "/v1/software/{id}"),
            ("/v1/software/a%2Fb", "/v1/software/{id}"),
            ("/v1/software/a/b", "unmatched"),
            ("/wp-login.php", "unmatched"),
            ("*", "unmatched"),
            ("", "unmatched"),
        ] {
            assert_eq!(routes.template(routes.of(path)), template, "{path}");
        }
    }
}
