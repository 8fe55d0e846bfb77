//! A hall as large as real ones: racks of 72 GPUs, eight to a block, three zones. Gangs come and go until it is nearly full, one
//! at a time, so that for each it is known where it could have been.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::PodCliqueSet;
use kube::api::DeleteParams;
use serde_json::json;

use crate::{
    nodes::Hall,
    scenario::{Context, PodState},
    scenarios::{
        backends::stage::{self, Role},
        dice::Dice,
        operator::stage::api,
    },
};

const RACKS: usize = 24;
const RACKS_PER_BLOCK: usize = 8;
/// Nodes to a rack, of four GPUs each.
const NODES: usize = 18;
const GPUS: usize = 4;
/// Gangs that are placed.
const GANGS: usize = 60;
/// Nodes of a gang; the last two are larger than a rack.
const SIZES: [usize; 8] = [2, 4, 6, 9, 12, 18, 24, 36];

/// Where gangs are: the node count of each, by rack.
#[derive(Default)]
struct Books(BTreeMap<String, BTreeMap<usize, usize>>);

impl Books {
    fn free(&self, rack: usize) -> usize {
        NODES - self.0.values().filter_map(|it| it.get(&rack)).sum::<usize>()
    }

    fn free_in_block(&self, block: usize) -> usize {
        (block * RACKS_PER_BLOCK..(block + 1) * RACKS_PER_BLOCK).map(|it| self.free(it)).sum()
    }

    fn fits_rack(&self, nodes: usize) -> bool {
        (0..RACKS).any(|it| self.free(it) >= nodes)
    }

    fn fits_block(&self, nodes: usize) -> bool {
        (0..RACKS / RACKS_PER_BLOCK).any(|it| self.free_in_block(it) >= nodes)
    }
}

/// A block is required of every gang, a rack preferred. The first is kept always; how often the second could be and was, is told.
pub(super) async fn hall(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(RACKS).nodes(NODES).gpus(GPUS).blocks(RACKS_PER_BLOCK, 1)).await?;
    stage::start(context, stage::options(context)).await?;
    let (mut dice, mut books) = (Dice::new(9), Books::default());
    let (mut possible, mut reached) = (0, 0);
    for number in 0..GANGS {
        let size = SIZES[usize::try_from(dice.below(SIZES.len() as u64))?];
        // Others leave at random, and not in the order in which they came: what is free is in pieces.
        while !books.fits_block(size) || (!books.0.is_empty() && dice.one_in(4)) {
            leave(context, &mut books, &mut dice).await?;
        }
        let could_be = books.fits_rack(size);
        let name = format!("g{number}");
        let racks = place(context, &name, size).await?;
        let blocks: BTreeSet<usize> = racks.keys().map(|it| it / RACKS_PER_BLOCK).collect();
        ensure!(blocks.len() == 1, "{name} of {size} nodes is in several blocks: {racks:?}");
        possible += usize::from(could_be);
        reached += usize::from(could_be && racks.len() == 1);
        books.0.insert(name, racks);
    }
    let used: usize = (0..RACKS).map(|it| NODES - books.free(it)).sum();
    anstream::println!(
        "     {GANGS} gangs, all in one block as required; one rack was possible for {possible} and reached by {reached}; \
         {used} of {} nodes taken at the end",
        RACKS * NODES
    );
    Ok(())
}

/// A gang of whole nodes; the racks in which its pods are.
async fn place(context: &Context, name: &str, size: usize) -> Result<BTreeMap<usize, usize>> {
    let count = i32::try_from(size)?;
    let mut set = stage::set(name, &[Role::new("a", count, count)]);
    let template = &mut set["spec"]["template"];
    template["topologyConstraint"] =
        json!({ "topologyName": "floor", "pack": { "required": "block", "preferred": "rack" } });
    template["cliques"][0]["spec"]["podSpec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] =
        json!(GPUS);
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, &format!("{name}-"), size).await?;
    let mut racks = BTreeMap::new();
    for pod in &pods {
        let rack = pod.node.as_deref().and_then(|it| it.strip_prefix("rack-")?.split('-').next());
        *racks.entry(rack.context("no rack")?.parse()?).or_default() += 1;
    }
    Ok(racks)
}

/// One gang goes.
async fn leave(context: &Context, books: &mut Books, dice: &mut Dice) -> Result<()> {
    let pick = usize::try_from(dice.below(books.0.len() as u64))?;
    let name = books.0.keys().nth(pick).context("nobody is there to leave")?.clone();
    api::<PodCliqueSet>(context).delete(&name, &DeleteParams::default()).await?;
    let prefix = format!("{name}-");
    let gone = |pods: &[PodState]| !pods.iter().any(|it| it.name.starts_with(&prefix));
    context.expect(&format!("{name} is gone"), gone).await?;
    books.0.remove(&name);
    Ok(())
}
