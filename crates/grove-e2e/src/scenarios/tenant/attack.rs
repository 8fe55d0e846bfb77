//! Attacks, one row each, and how they are carried out: the tenant writes, the victim asks for something that has to happen as
//! if it were alone, and the audit log has to show that nothing else happened.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use super::{
    act::Act,
    holds::Holds,
    tenants::Tenants,
    trespass::{Permit, trespasses},
    victim::Victim,
};
use crate::scenario::Context;

/// What a tenant writes.
type Writes = Box<dyn Fn(&Victim) -> Result<Vec<Act>> + Send + Sync>;

/// One attack.
pub(super) struct Attack {
    pub(super) name: String,
    pub(super) writes: Writes,
    /// What must still hold for the victim.
    pub(super) holds: &'static [Holds],
}

/// A row of a table.
pub(super) fn attack(
    name: impl Into<String>,
    holds: &'static [Holds],
    writes: impl Fn(&Victim) -> Result<Vec<Act>> + Send + Sync + 'static,
) -> Attack {
    Attack { name: name.into(), writes: Box::new(writes), holds }
}

/// Carries out one attack after the other, also after one that succeeds; fails with all that did.
pub(super) async fn carry_out(context: &Context, tenants: &mut Tenants, attacks: &[Attack]) -> Result<()> {
    let started = Instant::now();
    let mut succeeded = Vec::new();
    for attack in attacks {
        let result = one(context, tenants, attack).await;
        tenants.clear(context).await.with_context(|| format!("after the attack {:?}", attack.name))?;
        if let Err(error) = result {
            succeeded.push(format!("{}: {error:#}", attack.name));
            // The next one is tried on a victim that is well.
            Holds::SetIsRecreated.check(context, tenants).await.with_context(|| succeeded.join("\n    "))?;
        }
    }
    let (all, some) = (attacks.len(), succeeded.len());
    anstream::println!("     {all} attacks in {:.0} s, {some} succeeded", started.elapsed().as_secs_f64());
    ensure!(succeeded.is_empty(), "{some} of {all} attacks succeeded:\n    {}", succeeded.join("\n    "));
    Ok(())
}

async fn one(context: &Context, tenants: &mut Tenants, attack: &Attack) -> Result<()> {
    let victim = Victim::read(context).await?;
    // What was written before is the business of an earlier attack.
    tenants.tail.more()?;
    for act in (attack.writes)(&victim)? {
        act.perform(context, tenants).await?;
    }
    let mut permit = Permit::default();
    let mut result = Ok(());
    for holds in attack.holds {
        let more = holds.permit();
        permit.pods += more.pods;
        permit.anything |= more.anything;
        if !more.remade.is_empty() {
            permit.remade = more.remade;
        }
        result = result.and(holds.check(context, tenants).await);
    }
    let found = trespasses(&tenants.tail.more()?, &tenants.home, &victim.namespace, permit);
    let found: Vec<&String> = found.iter().take(5).collect();
    match result {
        Ok(()) => ensure!(found.is_empty(), "the audit log has {found:?}"),
        Err(error) => return Err(error.context(format!("audit log: {found:?}"))),
    }
    Ok(())
}
