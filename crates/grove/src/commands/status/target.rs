//! What `grove status` is asked about: a set, or something that belongs to one.

use std::{io, str::FromStr};

use grove_api::{
    constants::labels,
    field::closest,
    wire::{PodClique, PodCliqueScalingGroup, PodGang},
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, ResourceExt};

use super::{
    read::{self, Question},
    screen::Screen,
    seen::{Seen, clique_of, label},
};
use crate::{cli::object_name, cluster::failure, commands::kinds::Kind};

/// A kind and a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: Kind,
    pub(super) name: String,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = text.split_once('/').unwrap_or(("pcs", text));
        let known = Kind::all_names();
        let Some(found) = Kind::of(kind) else {
            let meant = closest(kind, known.iter().map(String::as_str));
            let hint = meant.map_or("use pcs/, pcsg/, pclq/, gang/ or pod/".to_owned(), |it| {
                format!("did you mean {it:?}?")
            });
            return Err(format!("unknown kind {kind:?}; {hint}"));
        };
        Ok(Self { kind: found, name: object_name(name)? })
    }
}

impl Target {
    /// The set that it belongs to; `None` where there is no such object, or it belongs to none.
    pub(super) async fn set(&self, question: &Question) -> io::Result<Option<String>> {
        let name = &self.name;
        match self.kind {
            Kind::Set => Ok(Some(name.clone())),
            Kind::Group => set_of(question, question.api::<PodCliqueScalingGroup>(), name).await,
            Kind::Clique => set_of(question, question.api::<PodClique>(), name).await,
            Kind::Gang => set_of(question, question.api::<PodGang>(), name).await,
            Kind::Pod => set_of(question, question.api::<Pod>(), name).await,
        }
    }

    /// Leaves what concerns it of a screen; `false` where it is not there any more.
    pub(super) fn narrow(&self, screen: &mut Screen, seen: &Seen) -> bool {
        let key = |name: &str| (screen.namespace.clone(), name.to_owned());
        match self.kind {
            Kind::Set => return true,
            Kind::Gang => screen.roles.retain(|it| it.gang == self.name),
            Kind::Clique => screen.roles.retain(|it| it.name == self.name),
            Kind::Pod => {
                let clique = seen.pods.get(&key(&self.name)).map(clique_of).unwrap_or_default();
                screen.roles.retain(|it| it.name == clique);
            }
            Kind::Group => {
                let is_of = |role: &str| {
                    let clique = seen.cliques.get(&key(role));
                    clique.is_some_and(|it| label(it, labels::SCALING_GROUP) == self.name)
                };
                let keep: Vec<bool> = screen.roles.iter().map(|it| is_of(&it.name)).collect();
                let mut keep = keep.into_iter();
                screen.roles.retain(|_| keep.next().unwrap_or_default());
            }
        }
        screen.groups.retain(|it| self.kind == Kind::Group && it.name == self.name);
        let roles = &screen.roles;
        screen.gangs.retain(|it| roles.iter().any(|role| role.gang == it.name));
        !screen.roles.is_empty() || !screen.groups.is_empty()
    }
}

async fn set_of<K: read::Kind>(question: &Question, api: Api<K>, name: &str) -> io::Result<Option<String>> {
    let found = api.get_metadata_opt(name).await.map_err(|it| failure(&question.server, &it))?;
    Ok(found.and_then(|it| it.labels().get(labels::PART_OF).cloned()))
}

#[cfg(test)]
mod tests {
    use grove_api::schema::CRDS;
    use grove_apiserver::{ApiServer, Resources};
    use k8s_openapi::jiff::Timestamp;
    use kube::{Client, api::PostParams};

    use super::*;
    use crate::commands::status::fixture::{chat, clique, gang};

    #[test]
    fn kinds_and_names() {
        let target = |kind, name: &str| Ok(Target { kind, name: name.to_owned() });
        let rows = [
            ("chat", target(Kind::Set, "chat")),
            ("pcs/chat", target(Kind::Set, "chat")),
            ("gang/chat-0", target(Kind::Gang, "chat-0")),
            ("pcsg/chat-0-pool", target(Kind::Group, "chat-0-pool")),
            ("gnag/chat-0", Err("unknown kind \"gnag\"; did you mean \"gang\"?".to_owned())),
            ("job/x", Err("unknown kind \"job\"; use pcs/, pcsg/, pclq/, gang/ or pod/".to_owned())),
            ("pod/a/b", Err("is not a name of an object".to_owned())),
        ];
        for (text, want) in rows {
            assert_eq!(text.parse::<Target>(), want, "{text}");
        }
    }

    /// Gangs, groups and roles that are left.
    fn left(text: &str) -> Option<(usize, usize, Vec<String>)> {
        let (seen, target) = (chat(), text.parse::<Target>().unwrap());
        let mut screen = Screen::of(&seen, "chat").unwrap();
        let names = |it: &Screen| it.roles.iter().map(|it| it.name.clone()).collect();
        target.narrow(&mut screen, &seen).then(|| (screen.gangs.len(), screen.groups.len(), names(&screen)))
    }

    #[test]
    fn a_screen_is_narrowed_to_what_was_asked_about() {
        let all = || vec!["chat-0-decode".to_owned(), "chat-0-router".to_owned()];
        assert_eq!(left("chat"), Some((1, 1, all())));
        assert_eq!(left("gang/chat-0"), Some((1, 0, all())));
        assert_eq!(left("pclq/chat-0-router"), Some((1, 0, vec!["chat-0-router".to_owned()])));
        assert_eq!(left("pod/chat-0-decode-1"), Some((1, 0, vec!["chat-0-decode".to_owned()])));
        assert_eq!(
            left("pcsg/chat-0-pool"),
            Some((0, 1, Vec::new())),
            "its cliques have no label in this test"
        );
        assert_eq!(left("gang/chat-9"), None);
    }

    #[tokio::test]
    async fn an_object_leads_to_its_set() {
        let mut resources = Resources::kubernetes();
        for crd in &CRDS {
            resources = resources.with_crd(&crd.to_value()).unwrap();
        }
        let server = ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1);
        let question = Question {
            client: Client::new(server.service(), "default"),
            server: "in memory".to_owned(),
            namespace: Some("default".to_owned()),
            set: None,
        };
        let params = PostParams::default();
        question.api::<PodGang>().create(&params, &gang("chat-0", "Pending", &[])).await.unwrap();
        question.api::<PodClique>().create(&params, &clique("chat-0-a", "chat-0", 1, 1)).await.unwrap();
        let set = async |text: &str| text.parse::<Target>().unwrap().set(&question).await.unwrap();
        for there in ["gang/chat-0", "pclq/chat-0-a", "chat"] {
            assert_eq!(set(there).await.as_deref(), Some("chat"), "{there}");
        }
        for missing in ["gang/chat-1", "pcsg/chat-0", "pod/chat-0"] {
            assert_eq!(set(missing).await, None, "{missing}");
        }
    }
}
