//! Keeps the Secret, what is served and what is trusted as they should be. Every replica does; the first one to write wins,
//! and the others read what it wrote.

use std::{sync::Arc, time::Duration};

use grove_api::constants::webhooks::{
    AUTHORIZER, CLIQUE_VALIDATING, GROUP_VALIDATING, SET_DEFAULTING, SET_VALIDATING, TOPOLOGY_VALIDATING,
};
use grove_runtime::{Cache, WriteError, Writer, inform};
use k8s_openapi::{
    api::{
        admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
        core::v1::Secret,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource as _,
    api::{PostParams, Request},
    runtime::watcher,
};
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{
    Lifetimes,
    content::Content,
    facts::Facts,
    mint,
    names::Names,
    plan::{Situation, Step, decide},
    served::Served,
    trust::{Trust, Trusting},
};

/// The clock is looked at this often: a machine may have slept, and its timers with it.
const LOOK: Duration = Duration::from_mins(5);
/// Steps in a row; each changes something, so there are few.
const MOST_STEPS: usize = 8;
/// Pauses after a failure: the first and the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Who has to write the same caBundle more often than this within [`WINDOW`] is not alone: somebody else writes it, too. As
/// many writes as that are an installation whose objects come one by one.
const CONTESTED: u32 = 5;
const WINDOW: Duration = Duration::from_mins(5);

/// Makes and renews the certificate of admission.
pub struct Keeper {
    /// Namespace of the operator.
    pub namespace: String,
    /// Name of the Secret.
    pub secret: String,
    /// What the certificate has to be for.
    pub names: Names,
    /// How long certificates live.
    pub lifetimes: Lifetimes,
    /// Whether the authorizer is served.
    pub authorizer: bool,
    /// The wall clock.
    pub clock: fn() -> Timestamp,
}

/// Why a round did not end well.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("{0}")]
    Mint(String),
}

struct Round {
    keeper: Keeper,
    writer: Writer,
    cache: Cache<Secret>,
    trusting: Vec<Box<dyn Trusting>>,
    served: Arc<Served>,
    /// What is served, and what is known of it.
    held: Option<(Content, Facts)>,
    /// The caBundle that all webhook configurations have, and since when we see that.
    published: Option<(Vec<u8>, Timestamp)>,
    /// The caBundle that was written last, when, and how often within the window.
    wrote: Option<(Vec<u8>, Instant, u32)>,
}

impl Keeper {
    /// Works until `stop`.
    pub async fn run(self, client: Client, served: Arc<Served>, stop: CancellationToken) {
        let changed = Arc::new(Notify::new());
        let cache: Cache<Secret> = Cache::new();
        let listener = Arc::clone(&changed);
        cache.listen(move |_| listener.notify_one());
        let mut trusting: Vec<Box<dyn Trusting>> = vec![
            Box::new(Trust::<MutatingWebhookConfiguration>::new(SET_DEFAULTING, &changed)),
            Box::new(Trust::<ValidatingWebhookConfiguration>::new(SET_VALIDATING, &changed)),
            Box::new(Trust::<ValidatingWebhookConfiguration>::new(TOPOLOGY_VALIDATING, &changed)),
            Box::new(Trust::<ValidatingWebhookConfiguration>::new(CLIQUE_VALIDATING, &changed)),
            Box::new(Trust::<ValidatingWebhookConfiguration>::new(GROUP_VALIDATING, &changed)),
        ];
        if self.authorizer {
            trusting.push(Box::new(Trust::<ValidatingWebhookConfiguration>::new(AUTHORIZER, &changed)));
        }
        let mut watches = JoinSet::new();
        for it in &trusting {
            watches.spawn(it.watch(client.clone(), stop.clone()));
        }
        let only = watcher::Config::default().fields(&format!("metadata.name={}", self.secret));
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &self.namespace);
        let prune = |it: &mut Secret| it.metadata.managed_fields = None;
        watches.spawn(inform(secrets, only, cache.clone(), prune, stop.clone()));
        let writer = Writer::new(client, "grove-operator");
        let mut round =
            Round { keeper: self, writer, cache, trusting, served, held: None, published: None, wrote: None };
        stop.run_until_cancelled(round.turn(&changed)).await;
        while watches.join_next().await.is_some() {}
    }
}

impl Round {
    async fn turn(&mut self, changed: &Notify) {
        self.served.lacks("the Secret of the certificate has not been read yet");
        self.served.trusted(Err("the webhook configurations do not trust the certificate yet".to_owned()));
        self.cache.synced().await;
        let mut pause = PAUSE;
        loop {
            let wait = match self.settle().await {
                Ok(_) if self.is_contested() => {
                    warn!(
                        "somebody else keeps writing caBundle of our webhook configurations; is there a second installation?"
                    );
                    // Whatever they write meanwhile is answered once.
                    sleep(LONGEST_PAUSE).await;
                    continue;
                }
                Ok(next) => {
                    pause = PAUSE;
                    let wait = next.duration_since((self.keeper.clock)());
                    Duration::try_from(wait).unwrap_or_default().clamp(Duration::from_millis(100), LOOK)
                }
                Err(trouble) => {
                    self.served.lacks(&trouble.to_string());
                    warn!(error = %trouble, "the certificate of admission needs care, trying again");
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    pause
                }
            };
            tokio::select! {
                () = changed.notified() => {}
                () = sleep(wait) => {}
            }
        }
    }

    /// Takes steps until there is nothing to do, serves what is there, and has it trusted. Returns when to look again.
    async fn settle(&mut self) -> Result<Timestamp, Trouble> {
        let now = (self.keeper.clock)();
        for _ in 0..MOST_STEPS {
            let secret = self.cache.get(&self.keeper.namespace, &self.keeper.secret);
            let content = secret.as_ref().map(|it| Content::of(it)).unwrap_or_default();
            let stored = Facts::of(&content);
            let published = self.published_since(&content.authorities, now);
            let step = decide(&Situation {
                stored: stored.clone(),
                exists: secret.is_some(),
                held: self.held.as_ref().map(|(_, facts)| facts),
                published,
                now,
                names: &self.keeper.names,
                lifetimes: self.keeper.lifetimes,
            });
            if let Step::Keep(next) = step {
                // What is kept is complete.
                let facts = stored.map_err(Trouble::Mint)?;
                self.serve(&content, facts)?;
                self.have_trusted(&content.authorities).await?;
                // Once is enough: whoever is not trusted any more has to be asked in order to be put right.
                if self.is_trusted(&content.authorities) {
                    self.served.trusted(Ok(()));
                }
                return Ok(next);
            }
            let content = self.carry_out(&step, &content, now).map_err(Trouble::Mint)?;
            self.write(secret.as_deref(), &content).await?;
        }
        Ok(now)
    }

    fn carry_out(&self, step: &Step, content: &Content, now: Timestamp) -> Result<Content, String> {
        let (names, lifetimes) = (&self.keeper.names, self.keeper.lifetimes);
        let secret = &self.keeper.secret;
        match step {
            Step::Keep(_) => Ok(content.clone()),
            Step::Restore(why) => {
                warn!(secret, why, "the Secret of the certificate was spoilt; writing it back");
                self.held.as_ref().map(|(it, _)| it.clone()).ok_or_else(|| "nothing to write back".to_owned())
            }
            Step::Replace(why) => {
                info!(secret, why, "making a new authority and certificate");
                mint::fresh(names, now, lifetimes)
            }
            Step::AddAuthority => {
                info!(secret, "two thirds of the authority's life are over; adding a new one");
                mint::with_authority(content, now, lifetimes)
            }
            Step::IssueLeaf(names, why) => {
                info!(secret, why, "making a new certificate");
                mint::with_leaf(content, names, now, lifetimes)
            }
            Step::DropOldAuthorities => {
                info!(secret, "the old authority is not needed any longer");
                mint::with_newest_authority(content)
            }
        }
    }

    /// Writes the Secret, or reads what somebody else has just written.
    async fn write(&self, known: Option<&Secret>, content: &Content) -> Result<(), Trouble> {
        let Keeper { namespace, secret: name, .. } = &self.keeper;
        let mut secret = known.cloned().unwrap_or_else(|| Secret {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                namespace: Some(namespace.clone()),
                ..ObjectMeta::default()
            },
            type_: Some("kubernetes.io/tls".to_owned()),
            ..Secret::default()
        });
        content.put_into(&mut secret);
        let written = match known {
            None => self.writer.create(namespace, &secret).await,
            Some(_) => self.replace(&secret).await,
        };
        match written {
            Ok(secret) => drop(self.cache.written(secret)),
            Err(error) if error.is_conflict() || error.is_already_exists() || error.is_not_found() => {
                match self.writer.get::<Secret>(namespace, name).await? {
                    Some(secret) => drop(self.cache.written(secret)),
                    // Gone meanwhile; the watch tells us, too.
                    None => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// With its resourceVersion: nobody else's write is lost.
    async fn replace(&self, secret: &Secret) -> Result<Secret, WriteError> {
        let Keeper { namespace, secret: name, .. } = &self.keeper;
        let failed = |source: kube::Error| WriteError {
            verb: "update",
            kind: "Secret".to_owned(),
            name: format!("{namespace}/{name}"),
            source: Box::new(source),
        };
        let body = serde_json::to_vec(secret).map_err(|error| failed(kube::Error::SerdeError(error)))?;
        let params = PostParams { field_manager: Some("grove-operator".to_owned()), ..PostParams::default() };
        let request = Request::new(Secret::url_path(&(), Some(namespace))).replace(name, &params, body);
        let request = request.map_err(|error| failed(kube::Error::BuildRequest(error)))?;
        self.writer.request(request).await.map_err(failed)
    }

    fn serve(&mut self, content: &Content, facts: Facts) -> Result<(), Trouble> {
        if self.held.as_ref().is_some_and(|(it, _)| it == content) {
            return Ok(());
        }
        self.served.load(&content.leaf, &content.leaf_key).map_err(Trouble::Mint)?;
        info!(until = %facts.leaf.until, "certificate loaded");
        self.held = Some((content.clone(), facts));
        Ok(())
    }

    /// Since when all trust `bundle`, without a break that we saw.
    fn published_since(&mut self, bundle: &[u8], now: Timestamp) -> Option<Timestamp> {
        if !self.is_trusted(bundle) {
            self.published = None;
        } else if self.published.as_ref().is_none_or(|(it, _)| it != bundle) {
            self.published = Some((bundle.to_vec(), now));
        }
        self.published.as_ref().map(|(_, since)| *since)
    }

    fn is_trusted(&self, bundle: &[u8]) -> bool {
        self.trusting.iter().all(|it| it.is_known() && it.trusts(bundle))
    }

    /// Tries all, and then tells of the first that failed.
    async fn have_trusted(&mut self, bundle: &[u8]) -> Result<(), Trouble> {
        let (mut result, mut wrote) = (Ok(()), false);
        for it in &self.trusting {
            match it.assert(&self.writer, bundle).await {
                Ok(has_written) => wrote |= has_written,
                Err(error) => result = result.and(Err(error)),
            }
        }
        if wrote {
            let same = self.wrote.as_ref().filter(|(it, at, _)| it == bundle && at.elapsed() < WINDOW);
            let times = same.map_or(1, |(.., times)| times.saturating_add(1));
            self.wrote = Some((bundle.to_vec(), Instant::now(), times));
        }
        Ok(result?)
    }

    /// Whether what is written does not stay.
    fn is_contested(&self) -> bool {
        self.wrote.as_ref().is_some_and(|(_, at, times)| *times > CONTESTED && at.elapsed() < PAUSE)
    }
}
