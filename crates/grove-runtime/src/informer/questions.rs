//! Questions to the server about objects that only our own writes have shown: a few at a time, beside the watch.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::future::pending;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use kube::api::ListParams;
use kube::runtime::watcher::Config;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::cache::Unconfirmed;

/// How many questions one round has, and how many of them are under way at a time, so that doubts never become a burst.
pub(super) const ROUND: usize = 32;
pub(super) const AT_A_TIME: usize = 4;

/// What the server has where an object is in doubt: that object, another one of its name, or none.
pub(super) type Answer<W> = (Unconfirmed, kube::Result<Vec<W>>);

pub(super) struct Questions<W> {
    api: Api<W>,
    config: Config,
    waiting: VecDeque<Unconfirmed>,
    open: FuturesUnordered<BoxFuture<'static, Answer<W>>>,
}

impl<W> Questions<W>
where
    W: Resource + DeserializeOwned + Clone + Debug + Send + 'static,
{
    pub(super) fn new(api: Api<W>, config: Config) -> Self {
        Self { api, config, waiting: VecDeque::new(), open: FuturesUnordered::new() }
    }

    /// Begins a round, unless one is under way. What is left over is still in doubt at the next one.
    pub(super) fn ask(&mut self, unconfirmed: Vec<Unconfirmed>) {
        if self.open.is_empty() && self.waiting.is_empty() {
            self.waiting = unconfirmed.into_iter().take(ROUND).collect();
        }
    }

    /// Ends the round. A list answers everything, and an answer from before it must not come after it.
    pub(super) fn drop_all(&mut self) {
        self.waiting.clear();
        self.open = FuturesUnordered::new();
    }

    /// The next answer; never, where nothing was asked. Nothing is lost where the future is dropped.
    pub(super) async fn answer(&mut self) -> Answer<W> {
        while self.open.len() < AT_A_TIME
            && let Some(next) = self.waiting.pop_front()
        {
            self.open.push(self.question(next));
        }
        match self.open.next().await {
            Some(answer) => answer,
            None => pending().await,
        }
    }

    fn question(&self, asked: Unconfirmed) -> BoxFuture<'static, Answer<W>> {
        // A list with the watch's own selectors, because an object that does not match them is absent, too.
        let params = ListParams {
            label_selector: self.config.label_selector.clone(),
            field_selector: Some(field_selector(self.config.field_selector.as_deref(), &asked)),
            ..ListParams::default()
        };
        let api = self.api.clone();
        async move {
            let found = api.list(&params).await.map(|it| it.items);
            (asked, found)
        }
        .boxed()
    }
}

fn field_selector(own: Option<&str>, object: &Unconfirmed) -> String {
    let mut terms: Vec<String> = own.into_iter().map(str::to_owned).collect();
    terms.push(format!("metadata.name={}", object.name));
    if !object.namespace.is_empty() {
        terms.push(format!("metadata.namespace={}", object.namespace));
    }
    terms.join(",")
}
