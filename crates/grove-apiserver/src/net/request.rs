//! One request on the network, from its headers to its response.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use http::header::{CONNECTION, HeaderValue};
use http::request::Parts;
use http::{Request, Response, Version};
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::ServeOptions;
use super::connections::InFlight;
use super::payload::{self, Payload, PayloadError, read_body};
use super::response::ResponseBody;
use crate::audit::{Audited, PendingEvent};
use crate::auth::{self, Access, Attributes, UserInfo};
use crate::body::Body;
use crate::failure::Failure;
use crate::handler;
use crate::protobuf;
use crate::server::ApiServer;
use crate::service::{TransportError, refuse};

/// The other side of a connection.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    /// The user of its client certificate.
    pub(super) certificate: Option<UserInfo>,
}

/// Answers requests.
pub(super) struct RequestHandler {
    server: ApiServer,
    options: ServeOptions,
    access: Arc<Access>,
    /// Of the bodies of all requests.
    memory: Arc<Semaphore>,
    stop: CancellationToken,
}

impl RequestHandler {
    pub(super) fn new(server: ApiServer, options: ServeOptions, stop: CancellationToken) -> Self {
        let (authentication, authorization) = (options.authentication.clone(), options.authorization);
        let access = Arc::new(Access { authentication, authorization });
        let memory = payload::memory(&options.limits);
        Self { server, options, access, memory, stop }
    }

    pub(super) async fn handle(
        &self,
        peer: &Peer,
        request: Request<Incoming>,
        in_flight: InFlight,
    ) -> Result<Response<ResponseBody>, TransportError> {
        let (mut parts, body) = request.into_parts();
        let attributes = Attributes::of(&parts);
        let mut audited = Audited::default();
        let event = self.options.audit.as_ref().map(|sink| {
            PendingEvent::new(sink, self.server.shared_store(), &parts, &attributes, peer.address.ip())
        });
        let version = parts.version;
        let answering = self.answer(peer, &mut parts, body, &attributes, &mut audited);
        let mut response = match AssertUnwindSafe(answering).catch_unwind().await {
            Ok(result) => result?,
            Err(_) => refuse(&Failure::internal("the request handler panicked")),
        };
        // The next request would go to a server that is about to end.
        let is_unusable = self.stop.is_cancelled() || response.status() == 408;
        if is_unusable && version < Version::HTTP_2 {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let event = event.map(|event| event.answered(audited, response.status()));
        let shutdown = self.stop.clone().cancelled_owned();
        Ok(response.map(|body| ResponseBody::new(body, shutdown, in_flight, event)))
    }

    async fn answer(
        &self,
        peer: &Peer,
        parts: &mut Parts,
        body: Incoming,
        attributes: &Attributes,
        audited: &mut Audited,
    ) -> Result<Response<Body>, TransportError> {
        if let Err(failure) = self.admit(peer, parts, attributes, audited) {
            return Ok(refuse(&failure));
        }
        let read = read_body(&parts.headers, body, &self.options.limits, &self.memory).await;
        let Payload { bytes, memory: _until_answered } = match read {
            Ok(payload) => payload,
            Err(PayloadError::Refused(failure)) => return Ok(refuse(&failure)),
            Err(PayloadError::Broken(error)) => return Err(error),
        };
        let body = match protobuf::to_json(&mut parts.headers, bytes) {
            Ok(body) => body,
            Err(failure) => return Ok(refuse(&failure)),
        };
        if self.options.audit.is_some() {
            audited.read_name(&body);
        }
        handler::handle(&self.server, parts, &body).await
    }

    /// Authentication, impersonation, authorization.
    fn admit(
        &self,
        peer: &Peer,
        parts: &mut Parts,
        attributes: &Attributes,
        audited: &mut Audited,
    ) -> Result<(), Failure> {
        let store = self.server.shared_store();
        let access = &self.access;
        let authentication = &access.authentication;
        let user = authentication.authenticate(peer.certificate.as_ref(), &parts.headers, store)?;
        audited.user = Some(user.clone());
        let user = match auth::impersonated(&parts.headers)? {
            None => user,
            Some(wanted) => {
                let decide = |wanted: &Attributes| access.authorize(store, &user, wanted);
                let impersonated = wanted.permitted(&user, decide)?;
                audited.impersonated_user = Some(impersonated.clone());
                impersonated
            }
        };
        let decision = access.authorize(store, &user, attributes);
        audited.allowed = Some(decision.is_allowed());
        decision.into_result(&user, attributes)?;
        parts.extensions.insert(user);
        parts.extensions.insert(Arc::clone(access));
        Ok(())
    }
}
