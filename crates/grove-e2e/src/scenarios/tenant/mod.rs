//! A tenant who may do much in its own namespace tries to harm another tenant and the operator. The attacks are tables: what
//! the tenant writes, and what must still hold for the victim. docs/tenants.md lists them.

mod act;
mod attack;
mod finalizers;
mod floods;
mod grouper;
mod holds;
mod labels;
mod largest;
mod own;
mod ownership;
mod sizes;
mod starvation;
mod status;
mod tenants;
mod trespass;
mod victim;

use anyhow::{Result, ensure};

use self::{
    attack::{Attack, carry_out},
    tenants::{Tenants, options},
};
use crate::scenario::{Context, Scenario};

pub(super) const TABLE: &[Scenario] = &[
    Scenario::on_kube("tenant_important_attacks", |context| Box::pin(important(context))),
    Scenario::on_kube("tenant_ownership", |context| Box::pin(of(context, ownership::table))),
    Scenario::on_kube("tenant_labels", |context| Box::pin(of(context, labels::table))),
    Scenario::on_kube("tenant_status", |context| Box::pin(of(context, status::table))),
    Scenario::on_kube("tenant_finalizers", |context| Box::pin(of(context, finalizers::table))),
    Scenario::on_kube("tenant_sizes", |context| Box::pin(sizes::scenario(context))),
    Scenario::on_kube("tenant_largest_set", |context| Box::pin(largest::scenario(context))),
    Scenario::on_kube("tenant_grouper_owners", |context| Box::pin(grouper::scenario(context))),
    Scenario::on_kube("tenant_floods", |context| Box::pin(floods::scenario(context))),
    Scenario::on_kube("tenant_starvation", |context| Box::pin(starvation::scenario(context))),
];

/// The attacks of `make e2e`, from the tables of the others.
const IMPORTANT: [&str; 6] = [
    "Pod web-0-front of the victim's owner under a bogus kind",
    "PodClique web-0-front of the victim's owner under a bogus kind",
    "a set of the victim's name that is deleted",
    "requests to the victim's namespace",
    "a clique of the victim's set, breached since 2001",
    "a held gang of the victim's set, deleted",
];

async fn important(context: &mut Context) -> Result<()> {
    let tables = [ownership::table(), labels::table(), status::table(), finalizers::table()];
    let mut attacks: Vec<Attack> = tables.into_iter().flatten().collect();
    attacks.retain(|it| IMPORTANT.contains(&it.name.as_str()));
    ensure!(attacks.len() == IMPORTANT.len(), "an attack has another name");
    let mut tenants = Tenants::begin(context, options()).await?;
    carry_out(context, &mut tenants, &attacks).await
}

/// All attacks of a table.
async fn of(context: &mut Context, table: fn() -> Vec<Attack>) -> Result<()> {
    let mut tenants = Tenants::begin(context, options()).await?;
    carry_out(context, &mut tenants, &table()).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names() -> Vec<String> {
        let tables = [
            ownership::table(),
            labels::table(),
            status::table(),
            finalizers::table(),
            sizes::table(),
            grouper::table(),
        ];
        tables.into_iter().flatten().map(|it| it.name).chain(floods::names()).collect()
    }

    #[test]
    fn attacks_have_names_of_their_own() {
        let names = names();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        let missing: Vec<_> = IMPORTANT.iter().filter(|it| !names.iter().any(|name| name == *it)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn every_attack_is_in_the_documentation() {
        let page = include_str!("../../../../../docs/tenants.md");
        let missing: Vec<_> = names().into_iter().filter(|it| !page.contains(it.as_str())).collect();
        assert!(missing.is_empty(), "docs/tenants.md does not list {missing:?}");
    }
}
