//! Looks at what a client wants to watch before the client is told that it is watched.
//!
//! The SDK acknowledges a subscription of 2026-07-28 before the handler hears of it. A change
//! between that and the handler's first look would never be told, so the look comes first.

use std::borrow::Cow;

use rmcp::model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{ErrorData, RoleServer};

use super::handler::Handler;

/// A handler that has looked before it listens.
pub struct Listening(pub Handler);

impl Service<RoleServer> for Listening {
    // Boxed, because rmcp and tokio move a request's future several times before it runs, and this one
    // has 14 KB.
    fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ServerResult, ErrorData>> + Send + '_ {
        Box::pin(self.answer(request, context))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}

impl Listening {
    async fn answer(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let Listening(handler) = self;
        let ClientRequest::SubscriptionsListenRequest(listen) = &request else {
            return Service::handle_request(handler, request, context).await;
        };
        let id = context.id.clone();
        let wanted = &listen.params.notifications;
        handler.look_first(wanted, &context).await;
        let answer = Service::handle_request(handler, request, context).await;
        // Refused before anybody listened, it has not been taken.
        handler.looked_at(&id);
        answer
    }
}
