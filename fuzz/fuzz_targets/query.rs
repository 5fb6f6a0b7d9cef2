//! Arbitrary text as a query. Two bytes choose the page and the options.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/hostile/invariant/mod.rs"]
mod invariant;

use std::sync::{Arc, LazyLock};

use software_directory::service::{Order, PageRequest, SearchSoftware, SearchSort};
use software_directory::generation::Snapshot;

static SNAPSHOT: LazyLock<Arc<Snapshot>> = LazyLock::new(invariant::query::snapshot);

const SORTS: [SearchSort; 4] = [SearchSort::Relevance, SearchSort::Stored(Order::Rating), SearchSort::Stored(Order::ReviewCount), SearchSort::Stored(Order::Name)];

libfuzzer_sys::fuzz_target!(|input: (u8, u8, &str)| {
    let (options, offset, q) = input;
    let query = SearchSoftware {
        sort: SORTS[usize::from(options & 3)].clone(),
        typo: options & 4 == 0,
        page: PageRequest { limit: u32::from(options >> 3) + 1, offset: u64::from(offset) },
        ..invariant::query::search(q)
    };
    invariant::query::check(&SNAPSHOT, &query);
});
