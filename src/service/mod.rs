//! The operations of the directory (list, get, search, …) over one [`Snapshot`](crate::snapshot::Snapshot), for HTTP and the
//! command line alike. Nothing here knows a URL, a header or a status.

mod facet;
mod highlight;
mod operations;
mod page;
mod query;
mod results;

pub use crate::catalogue::Order;
pub use crate::search::expand::Prefix;
pub use operations::{
    ExportDownload, ServiceError, find_software, find_software_within, get_export, get_software, list_categories,
    list_exports, list_glossary, list_reviews, list_software, search_software,
};
pub use page::{GlossaryPage, Page, ReviewsPage, SearchHit, SearchPage};
pub use query::{Facet, ListGlossary, ListSoftware, PageRequest, SearchSoftware, SearchSort, SoftwareFilter};
pub use results::SearchResults;
