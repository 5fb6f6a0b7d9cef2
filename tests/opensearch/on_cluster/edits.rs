//! Edits send only what has changed, and a run that's killed is repaired by the next.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use software_directory::opensearch::{Error, Index};
use software_directory::service::{ChangesPage, PageRequest, Stop};

use crate::opensearch::environment::{World, hits, product, search};

const PAGE: PageRequest = PageRequest { limit: 100, offset: 0 };

/// An export of numbered products.
fn numbered(count: usize, tagline: impl Fn(usize) -> String) -> Value {
    let product = |n: usize| product(&format!("p{n}"), &format!("Product {n}"), &json!({"tagline": tagline(n)}));
    json!({"software": (0..count).map(product).collect::<Vec<_>>()})
}

fn changed(page: Option<ChangesPage>) -> Vec<(String, String)> {
    page.expect("a known generation").data.into_iter().map(|change| (change.id, change.change)).collect()
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn an_edit_sends_only_what_it_changes() {
    let world = World::new("edits");
    world.write("tools", &numbered(300, |n| format!("does {n}")));
    let first = world.update().await.expect("published");
    assert_eq!((first.added, first.is_new), (300, true));
    let unchanged = world.update().await.expect("published");
    assert_eq!((unchanged.sent, unchanged.is_new), (0, false));

    let index = Index::new(world.connection.clone(), world.prefix.clone());
    index.check().await.expect("loaded");
    world.write("tools", &numbered(301, |n| if n == 7 { "juggles".to_owned() } else { format!("does {n}") }));
    let edited = world.update().await.expect("published");
    assert_eq!((edited.added, edited.changed, edited.removed), (1, 1, 0));
    assert!(edited.sent <= 6, "{edited:?}");
    assert!(index.check().await.expect("loaded"), "a new publication");
    let directory = index.current().expect("loaded");
    assert_eq!(hits(&search(&directory, "juggles").await), ["p7"]);
    let changes = changed(directory.list_changes(Some(&first.generation), PAGE, &Stop::default()));
    let expected = [("p300", "added"), ("p7", "changed")].map(|(id, kind)| (id.to_owned(), kind.to_owned()));
    assert_eq!(changes, expected);

    world.write("tools", &numbered(100, |n| format!("does {n}")));
    assert!(matches!(world.update().await, Err(Error::Removes { removed: 201, of: 301, .. })));
    let confirmed = world.update_from(world.data(), 100, &mut |_, _| {}).await.expect("published");
    assert_eq!((confirmed.removed, confirmed.changed), (201, 1));
    assert!(index.check().await.expect("loaded"));
    let directory = index.current().expect("loaded");
    assert_eq!(search(&directory, "does").await.pagination.total, 100);
}

#[tokio::test]
#[ignore = "needs a cluster: make test-opensearch"]
async fn a_killed_run_is_repaired_by_the_next_and_the_log_starts_over() {
    const COUNT: usize = 16;
    const LAST_STEP: u64 = 2 * COUNT as u64;
    let world = World::new("killed");
    let killed_at = async |step: u64| {
        let mut progress = |done: u64, _: u64| assert!(done != step, "killed");
        let run = world.update_from(world.data(), 50, &mut progress);
        assert!(AssertUnwindSafe(run).catch_unwind().await.is_err());
    };
    // So large that they take several bulk requests: some are stored before the end.
    let large = |word: &str| -> Value {
        let mut export = numbered(COUNT, |_| word.to_owned());
        for product in export["software"].as_array_mut().expect("products") {
            product["description"] = format!("{word} ").repeat(130_000).into();
        }
        export
    };
    world.write("tools", &large("first"));
    killed_at(LAST_STEP).await;
    let first = world.update().await.expect("published");
    assert_eq!((first.added, first.is_new), (COUNT as u64, true));

    world.write("tools", &large("second"));
    killed_at(LAST_STEP).await;
    let directory = world.directory().await;
    assert_eq!(directory.view.generation(), first.generation);
    assert_eq!(
        search(&directory, "first").await.pagination.total,
        COUNT as u64,
        "nothing is visible before the refresh"
    );
    let second = world.update().await.expect("published");
    assert!(second.changed < COUNT as u64, "some were stored before: {second:?}");
    let directory = world.directory().await;
    assert_eq!(search(&directory, "second").await.pagination.total, COUNT as u64);
    assert_eq!(directory.list_changes(Some(&first.generation), PAGE, &Stop::default()), None, "the log starts over");
    assert_eq!(world.update().await.expect("published").sent, 0);
}
