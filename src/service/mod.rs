//! The operations of the directory (list, get, search, …) as typed answers over one [`Snapshot`](crate::snapshot::Snapshot), for HTTP, assistants
//! and the command line alike. Nothing here knows a URL, a header or a status.

mod facet;
mod highlight;
pub(crate) mod memory;
mod page;
mod query;
mod searches;

pub use crate::catalogue::OpenObject;
pub use page::{GlossaryPage, Page, ReviewsPage, SearchHit, SearchPage};
pub use query::{Facet, ListGlossary, ListSoftware, ListSort, PageRequest, SearchSoftware, SearchSort, SoftwareFilter};

mod operations;
pub use operations::{
    ExportDownload, ServiceError, get_export, get_software, list_categories, list_exports, list_glossary, list_reviews,
    list_software, search_software,
};
pub use searches::Searches;
