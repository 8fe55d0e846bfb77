//! The search against plain enumeration: on small random clusters a gang is placed if and only if it can be, and never in part.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod exhaustive;
mod random;
mod validity;

use grove_placement::{Outcome, place_within};

/// More than any of these cases needs.
const BUDGET: u64 = 1_000_000;

#[derive(Default)]
struct Tally {
    placed: u32,
    refused: u32,
}

fn compare(seeds: std::ops::Range<u64>, make: impl Fn(u64) -> random::Case) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let case = make(seed);
        let fits = exhaustive::fits(&case.cluster, &case.gang);
        match place_within(&case.cluster, &case.gang, BUDGET) {
            Outcome::Placed(placement) => {
                assert!(fits, "seed {seed}: placed, though nothing fits: {placement:?}\n{case:#?}");
                if let Err(wrong) = validity::check(&case.cluster, &case.gang, &placement) {
                    panic!("seed {seed}: {wrong}: {placement:?}\n{case:#?}");
                }
                tally.placed += 1;
            }
            Outcome::DoesNotFit(reason) => {
                assert!(!fits, "seed {seed}: refused ({reason}), though it fits\n{case:#?}");
                assert!(!reason.message.is_empty(), "seed {seed}");
                tally.refused += 1;
            }
            Outcome::GaveUp { tried } => panic!("seed {seed}: gave up after {tried}\n{case:#?}"),
        }
    }
    tally
}

#[test]
fn groups_minima_topology_taints_and_selectors() {
    let tally = compare(0..2_500, random::independent);
    // Both answers have to be frequent, or nothing is tested.
    assert!(tally.placed > 800 && tally.refused > 800, "{} {}", tally.placed, tally.refused);
}

#[test]
fn nested_topology_without_crossing_labels() {
    let tally = compare(0..1_200, random::nested);
    assert!(tally.placed > 250 && tally.refused > 250, "{} {}", tally.placed, tally.refused);
}

#[test]
fn affinity_spread_and_host_ports() {
    let tally = compare(0..1_000, random::dependent);
    assert!(tally.placed > 200 && tally.refused > 200, "{} {}", tally.placed, tally.refused);
}
