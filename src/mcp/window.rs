//! Limits how many requests on one connection are in progress.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, GetExtensions as _, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A transport that reads no messages while its window is full. A request's slot is freed once its
/// handler has ended and its response has been sent. If it's cancelled, there's no response to wait
/// for.
pub(super) struct Window<T> {
    transport: T,
    free: Arc<Semaphore>,
    waiting: Arc<Mutex<HashMap<RequestId, Arc<OwnedSemaphorePermit>>>>,
}

impl<T> Window<T> {
    pub(super) fn new(transport: T, size: usize) -> Self {
        Self { transport, free: Arc::new(Semaphore::new(size)), waiting: Arc::default() }
    }

    fn leave(&self, id: Option<&RequestId>) -> Option<Arc<OwnedSemaphorePermit>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(id?)
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Window<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let place = match &message {
            JsonRpcMessage::Response(response) => self.leave(Some(&response.id)),
            JsonRpcMessage::Error(error) => self.leave(error.id.as_ref()),
            _ => None,
        };
        let sent = self.transport.send(message);
        async move {
            let sent = sent.await;
            drop(place);
            sent
        }
    }

    // Cancel-safe, like the wrapped transport's own method: dropping the future frees its slot.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let place = Arc::clone(&self.free).acquire_owned().await.ok()?;
        let mut message = self.transport.receive().await?;
        match &mut message {
            JsonRpcMessage::Request(request) => {
                let place = Arc::new(place);
                // The handler keeps the extensions, and with them the slot, until it ends.
                request.request.extensions_mut().insert(Arc::clone(&place));
                self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(request.id.clone(), place);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.leave(cancelled.params.request_id.as_ref());
                }
            }
            _ => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt as _;
    use rmcp::model::ServerResult;
    use serde_json::json;

    use super::*;

    /// Requests with ids counting up from 0, except that instead of request 10, a cancellation of
    /// request 1 arrives.
    struct Endless(u64);

    impl Transport<RoleServer> for Endless {
        type Error = Infallible;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleServer>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
            let id = self.0;
            self.0 += 1;
            let message = match id {
                10 => json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
                _ => json!({"jsonrpc": "2.0", "id": id, "method": "ping"}),
            };
            serde_json::from_value(message).ok()
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    #[test]
    fn nothing_more_is_read_until_a_request_in_progress_is_answered() {
        let mut window = Window::new(Endless(0), 10);
        let next = |window: &mut Window<Endless>| window.receive().now_or_never().map(|message| message.is_some());
        for _ in 0..10 {
            assert_eq!(next(&mut window), Some(true));
        }
        assert_eq!(next(&mut window), None, "the window is full");
        let response = TxJsonRpcMessage::<RoleServer>::response(ServerResult::empty(()), RequestId::Number(0));
        let sent = window.send(response);
        assert_eq!(next(&mut window), None, "the response hasn't been sent yet");
        assert!(sent.now_or_never().is_some_and(|sent| sent.is_ok()));
        assert_eq!(next(&mut window), Some(true), "a notification, which cancels a request");
        assert_eq!(next(&mut window), Some(true));
        assert_eq!(next(&mut window), Some(true), "the cancelled request's slot");
        assert_eq!(next(&mut window), None);
    }

    #[test]
    fn a_handler_keeps_its_slot_even_if_it_is_cancelled() {
        let mut window = Window::new(Endless(9), 2);
        let mut next = || window.receive().now_or_never().flatten();
        let first = next().expect("a request");
        assert!(next().is_some_and(|message| matches!(message, JsonRpcMessage::Notification(_))));
        assert!(next().is_some());
        assert!(next().is_none(), "both slots are taken");
        drop(first);
    }
}
