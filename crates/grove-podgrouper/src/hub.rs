//! What groups which kind.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    group::{Group, GroupOwner},
    owner_object::{need_of, not_read},
    plugin::{Found, Need, Plugin, Reads, Refused},
    plugins::DefaultPlugin,
    settings::Settings,
    skip_owner::Below,
    workload::{Kind, Workload},
};

mod builtin;
mod choice;
#[cfg(test)]
mod tests;

pub use self::choice::{Choice, How};

const ANY: &str = "*";
const SKIPPED: &str = "skip top owner";
static DEFAULT: DefaultPlugin = DefaultPlugin;

/// The plugins, by kind.
#[derive(Clone, Debug, Default)]
pub struct Hub {
    rows: BTreeMap<Kind<'static>, Row>,
}

/// What is done with a kind.
#[derive(Clone, Debug)]
enum Row {
    Plugin(Arc<dyn Plugin>),
    /// It only stands around a workload: what is below it is grouped.
    Skipped,
}

/// What groups a workload.
enum By<'a> {
    Plugin(Chosen<'a>),
    Skipped,
}

/// A plugin, why it is that one, and its name for people.
#[derive(Clone)]
struct Chosen<'a> {
    plugin: &'a dyn Plugin,
    how: How,
    name: Cow<'a, str>,
}

/// A plugin, and the workload as it sees it.
struct Settled<'a> {
    chosen: Chosen<'a>,
    /// Owners that are skipped, the one at the top first.
    skipped: Vec<GroupOwner>,
    /// What is below them; `None` where there are none.
    below: Option<Below>,
}

impl Hub {
    /// All kinds that are known without anybody's help.
    pub fn builtin() -> Self {
        builtin::hub()
    }

    /// Adds or replaces the plugin of a kind. A version of `*` is any that has no plugin of its own.
    #[must_use]
    pub fn with(mut self, kind: Kind<'static>, plugin: Arc<dyn Plugin>) -> Self {
        self.rows.insert(kind, Row::Plugin(plugin));
        self
    }

    /// Objects of this kind only stand around workloads: what is below them is grouped, with their labels and
    /// annotations.
    #[must_use]
    pub fn skipping(mut self, kind: Kind<'static>) -> Self {
        self.rows.insert(kind, Row::Skipped);
        self
    }

    /// What has to be read before the workload can be grouped. To be asked again with what was found, until nothing is
    /// needed any more.
    pub fn needs(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Vec<Need>, Refused> {
        match self.settle(workload, found, settings)? {
            Ok(settled) => settled.chosen.plugin.needs(settled.workload(workload), found, settings),
            Err(unread) => Ok(vec![need_of(&unread)]),
        }
    }

    /// The group of a pod; `None` where it is to be left alone.
    pub fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        match self.settle(workload, found, settings)? {
            Ok(settled) => settled.chosen.plugin.group(settled.workload(workload), found, settings),
            Err(unread) => Err(not_read(&unread)),
        }
    }

    /// What groups a workload, and why it is that.
    pub fn choice(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Choice, Refused> {
        let settled = self.settle(workload, found, settings)?.map_err(|unread| not_read(&unread))?;
        let Settled { chosen, skipped, below } = settled;
        let owner = below.map_or_else(|| workload.top_owner(), |it| it.top_owner());
        Ok(Choice { plugin: chosen.name.into_owned(), how: chosen.how, skipped, owner })
    }

    /// Name of the GroupingRule that groups a workload, where it is one.
    pub fn rule_of(&self, workload: Workload<'_>, found: &Found, settings: &Settings) -> Option<String> {
        let choice = self.choice(workload, found, settings).ok().filter(|it| it.how == How::Rule)?;
        let kind = Kind::parse(&choice.owner.api_version, &choice.owner.kind);
        settings.rules.find(kind).map(|it| it.rule_name().to_owned())
    }

    /// Name of what groups this owner at the top, for people.
    pub fn plugin_name(&self, top: &Value, settings: &Settings) -> String {
        match self.of_kind(Kind::of(top), settings) {
            By::Plugin(chosen) => chosen.name.into_owned(),
            By::Skipped => SKIPPED.to_owned(),
        }
    }

    /// All kinds with a row of their own, for the rights.
    pub fn kinds(&self) -> impl Iterator<Item = Kind<'_>> {
        self.rows.keys().copied()
    }

    /// All kinds that plugins read besides the owners of pods, for the rights.
    pub fn also_read(&self) -> impl Iterator<Item = Kind<'_>> {
        self.all_reads().map(|it| it.kind).collect::<BTreeSet<_>>().into_iter()
    }

    /// Whether more than the metadata of objects of this kind is read, their status aside. Pods are always read whole.
    pub fn reads_spec(&self, kind: Kind<'_>) -> bool {
        self.plugin_of(kind).is_some_and(Plugin::reads_spec)
            || self.all_reads().any(|it| it.kind == kind && it.spec)
    }

    /// Whether the status of objects of this kind is read.
    pub fn reads_status(&self, kind: Kind<'_>) -> bool {
        self.plugin_of(kind).is_some_and(Plugin::reads_status)
            || self.all_reads().any(|it| it.kind == kind && it.status)
    }

    /// Whether a kind is one that pods are grouped by, or that is read for the sake of one.
    pub(crate) fn knows(&self, kind: Kind<'_>) -> bool {
        self.row(kind).is_some() || self.reads_beside_owners(kind)
    }

    /// Whether plugins read objects of this kind besides the owners of pods.
    pub(crate) fn reads_beside_owners(&self, kind: Kind<'_>) -> bool {
        self.all_reads().any(|it| it.kind == kind)
    }

    fn all_reads(&self) -> impl Iterator<Item = &Reads> {
        let plugins = self.rows.values().filter_map(|it| match it {
            Row::Plugin(plugin) => Some(plugin),
            Row::Skipped => None,
        });
        plugins.flat_map(|it| it.also_reads())
    }

    fn plugin_of(&self, kind: Kind<'_>) -> Option<&dyn Plugin> {
        match self.row(kind)?.0 {
            Row::Plugin(plugin) => Some(plugin.as_ref()),
            Row::Skipped => None,
        }
    }

    /// The row of a kind: that of its version, else that of any.
    fn row(&self, kind: Kind<'_>) -> Option<(&Row, How)> {
        let any = || self.exact(Kind { version: ANY, ..kind }).map(|row| (row, How::AnyVersion));
        self.exact(kind).map(|row| (row, How::Kind)).or_else(any)
    }

    fn exact(&self, kind: Kind<'_>) -> Option<&Row> {
        self.rows.iter().find(|(known, _)| **known == kind).map(|(_, row)| row)
    }

    /// What groups a kind: what is known of it, else the rule for it, else the default.
    fn of_kind<'a>(&'a self, kind: Kind<'_>, settings: &'a Settings) -> By<'a> {
        let plugin = |plugin: &'a dyn Plugin, how| {
            By::Plugin(Chosen { plugin, how, name: Cow::Borrowed(plugin.name()) })
        };
        match self.row(kind) {
            Some((Row::Plugin(own), how)) => plugin(own.as_ref(), how),
            Some((Row::Skipped, _)) => By::Skipped,
            None => match settings.rules.find(kind) {
                Some(rule) => By::Plugin(Chosen {
                    plugin: rule,
                    how: How::Rule,
                    name: Cow::Owned(format!("rule {}", rule.rule_name())),
                }),
                None => plugin(&DEFAULT, How::Default),
            },
        }
    }

    /// The same below an owner that is skipped. A pod is never skipped: there is nothing below it.
    fn below<'a>(&'a self, below: &Below, settings: &'a Settings) -> By<'a> {
        match self.of_kind(Kind::of(below.top()), settings) {
            By::Skipped if below.is_pod() => By::Plugin(Chosen {
                plugin: &DEFAULT,
                how: How::Default,
                name: Cow::Borrowed(DEFAULT.name()),
            }),
            by => by,
        }
    }

    /// Skips what is to be skipped. The error is the owner that has to be read before. Each round has one owner less.
    fn settle<'a>(
        &'a self,
        workload: Workload<'_>,
        found: &Found,
        settings: &'a Settings,
    ) -> Result<Result<Settled<'a>, GroupOwner>, Refused> {
        let mut by = self.of_kind(Kind::of(workload.top), settings);
        let mut skipped = Vec::new();
        let mut below: Option<Below> = None;
        loop {
            if let By::Plugin(chosen) = by {
                return Ok(Ok(Settled { chosen, skipped, below }));
            }
            let current = below.as_ref().map_or(workload, |it| it.workload(workload.pod));
            let next = match Below::of(current, found, settings)? {
                Ok(next) => next,
                Err(unread) => return Ok(Err(unread.object.clone())),
            };
            skipped.push(current.top_owner());
            by = self.below(&next, settings);
            below = Some(next);
        }
    }
}

impl Settled<'_> {
    fn workload<'a>(&'a self, whole: Workload<'a>) -> Workload<'a> {
        self.below.as_ref().map_or(whole, |it| it.workload(whole.pod))
    }
}
