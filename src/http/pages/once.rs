//! Values that are computed on first use.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::http::problem::ApiError;

/// A value that's computed once, for all callers.
#[derive(Debug, Clone)]
pub(super) struct Once<T>(Arc<OnceCell<T>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone + Send + Sync + 'static> Once<T> {
    /// The value. It's computed in its own task, so that if one caller goes away, the next one
    /// doesn't have to start over. After an error, the next caller tries again.
    pub(super) async fn get_or_compute<F>(self, compute: impl FnOnce() -> F) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        if let Some(known) = self.0.get() {
            return Ok(known.clone());
        }
        let compute = compute();
        let computed = tokio::spawn(async move { self.0.get_or_try_init(|| compute).await.cloned() });
        computed.await.map_err(ApiError::internal)?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn value_is_computed_once_even_if_its_first_caller_goes_away() {
        let (once, computed) = (Once::<u32>::default(), Arc::new(AtomicU32::new(0)));
        let (release, released) = oneshot::channel::<()>();
        let count = Arc::clone(&computed);
        let mut first = Box::pin(once.clone().get_or_compute(|| async move {
            let _ = released.await;
            Ok(count.fetch_add(1, Ordering::Relaxed))
        }));
        tokio::select! {
            biased;
            _ = &mut first => panic!("it waits"),
            () = tokio::task::yield_now() => {}
        }
        drop(first);
        let second = tokio::spawn(once.clone().get_or_compute(|| async { Ok(7) }));
        tokio::task::yield_now().await;
        drop(release);
        assert_eq!(second.await.expect("no panic").expect("computed"), 0);
        assert_eq!(computed.load(Ordering::Relaxed), 1);
        let failing = Once::<u32>::default();
        let failed = failing.clone().get_or_compute(|| async { Err(ApiError::Overloaded) }).await;
        assert!(matches!(failed, Err(ApiError::Overloaded)));
        assert_eq!(failing.get_or_compute(|| async { Ok(1) }).await.expect("tried again"), 1);
    }
}
