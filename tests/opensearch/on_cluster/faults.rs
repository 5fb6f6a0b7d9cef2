//! Searches while nodes of three fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use software_directory::opensearch::Directory;

use crate::opensearch::environment::{World, control, product, search};
use software_directory::service::SearchSoftware;

/// How long each fault lasts.
const FAULT: Duration = Duration::from_secs(6);
const CLIENTS: usize = 4;

/// What happened to searches during a fault.
#[derive(Debug, Default)]
struct Load {
    done: AtomicU32,
    failed: AtomicU32,
    slowest_ms: AtomicU32,
}

/// Searches until a fault is over.
async fn under_load(directory: &Directory, fault: impl Future<Output = ()>) -> Load {
    let (load, over) = (Arc::new(Load::default()), Arc::new(AtomicBool::new(false)));
    let clients = (0..CLIENTS).map(|client| {
        let (directory, load, over) = (directory.clone(), Arc::clone(&load), Arc::clone(&over));
        tokio::spawn(async move {
            for n in (client..).step_by(CLIENTS) {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let started = Instant::now();
                let outcome = directory.search_software(&SearchSoftware::new(&format!("product {}", n % 50))).await;
                let took = u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX);
                load.slowest_ms.fetch_max(took, Ordering::Relaxed);
                load.done.fetch_add(1, Ordering::Relaxed);
                if let Err(error) = outcome {
                    eprintln!("{error:?}");
                    load.failed.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    fault.await;
    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.expect("no panic");
    }
    Arc::into_inner(load).expect("the clients are gone")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a cluster: make test-opensearch"]
async fn no_search_fails_while_a_node_is_gone() {
    let world = World::new("faults");
    let products: Vec<_> = (0..500).map(|n| product(&format!("p{n}"), &format!("Product {n}"), &json!({}))).collect();
    world.write("tools", &json!({"software": products}));
    world.update().await.expect("published");
    let directory = world.directory().await;
    // Until the replicas are there, losing a node loses data.
    let health = || async {
        let page = search(&directory, "product").await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        page.pagination.total
    };
    assert_eq!(health().await, 500);
    for (fault, recovery) in [("kill n1", "start n1"), ("kill n2", "start n2"), ("stop n3", "continue n3")] {
        let load = under_load(&directory, async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            control(fault);
            tokio::time::sleep(FAULT).await;
        })
        .await;
        println!("{fault}: {load:?}");
        assert_eq!(load.failed.load(Ordering::Relaxed), 0, "{fault}: {load:?}");
        control(recovery);
        tokio::time::sleep(Duration::from_secs(25)).await;
    }
    assert_eq!(search(&directory, "product").await.pagination.total, 500);
}
