//! The plan against a model of a namespace with a quota, for long times.

use super::*;

/// A gang of so many pods.
struct Gang {
    claim: Claim,
    size: u32,
}

struct Model {
    quota: u32,
    gangs: Vec<Gang>,
    ledger: Ledger,
    now: i64,
    created: u32,
    deleted: u32,
}

impl Model {
    /// Gangs of these sizes, each a second younger than the one before it; what was refused has begun.
    fn new(quota: u32, sizes: &[u32]) -> Self {
        let gang = |(number, size): (usize, &u32)| {
            let claim = claim(&format!("g{number}"), i64::try_from(number).unwrap());
            Gang { claim: Claim { missing: *size, lacking: *size, ..claim }, size: *size }
        };
        let gangs = sizes.iter().enumerate().map(gang).collect();
        let mut model = Self { quota, gangs, ledger: Ledger::default(), now: 1_000, created: 0, deleted: 0 };
        // At first everybody creates, one pod after the other, until the quota is exhausted.
        for turn in 0..quota {
            let number = turn as usize % sizes.len();
            model.create(number);
        }
        let refused = at(model.now);
        for gang in model.gangs.iter_mut().filter(|it| it.claim.lacking > 0) {
            gang.claim.refused_at = Some(refused);
        }
        model
    }

    fn used(&self) -> u32 {
        self.gangs.iter().map(|it| it.size - it.claim.lacking).sum()
    }

    fn create(&mut self, number: usize) -> bool {
        let is_full = self.used() >= self.quota;
        let gang = &mut self.gangs[number];
        if is_full || gang.claim.lacking == 0 {
            gang.claim.refused_at = is_full.then(|| at(self.now));
            return false;
        }
        gang.claim.missing -= 1;
        gang.claim.lacking -= 1;
        gang.claim.gated += 1;
        gang.claim.refused_at = None;
        if gang.claim.missing == 0 {
            (gang.claim.gated, gang.claim.running, gang.claim.initialized) = (0, true, true);
        }
        self.created += 1;
        true
    }

    /// One look; then the head creates what it can, and seconds pass.
    fn step(&mut self) {
        let claims: Vec<Claim> = self.gangs.iter().map(|it| it.claim.clone()).collect();
        let plan = plan(&self.ledger, &claims, at(self.now));
        self.ledger = plan.ledger;
        for uid in &plan.release {
            let gang = self.gangs.iter_mut().find(|it| it.claim.uid == *uid).unwrap();
            assert!(!gang.claim.running && gang.claim.missing > 0, "{uid} runs and deletes pods");
            self.deleted += gang.claim.gated;
            gang.claim.missing += gang.claim.gated;
            gang.claim.lacking += gang.claim.gated;
            gang.claim.gated = 0;
            self.ledger.note(Change::Freed, at(self.now + 1));
        }
        self.now += 2;
        if let Some(number) = self.gangs.iter().position(|it| Some(&it.claim.uid) == plan.head.as_ref()) {
            while self.create(number) {}
        }
        self.now += 8;
    }

    fn pass(&mut self, seconds: i64) {
        let end = self.now + seconds;
        while self.now < end {
            self.step();
        }
    }

    fn running(&self) -> Vec<usize> {
        (0..self.gangs.len()).filter(|it| self.gangs[*it].claim.running).collect()
    }
}

const HOUR: i64 = 3_600;

/// What upstream does here: each gang has a part of its pods, for ever.
#[test]
fn with_room_for_one_of_two_gangs_the_older_runs() {
    let mut model = Model::new(3, &[3, 3]);
    model.pass(HOUR);
    assert_eq!(model.running(), [0]);
    assert_eq!((model.created, model.deleted), (4, 1), "each pod that was deleted, once");
    model.quota = 6;
    model.ledger.note(Change::Raised, at(model.now));
    model.pass(60);
    assert_eq!(model.running(), [0, 1]);
}

#[test]
fn whoever_fits_runs_in_the_end() {
    for (quota, sizes, expected) in [
        (3, vec![3, 3, 3], vec![0]),
        (6, vec![3, 3, 3], vec![0, 1]),
        (5, vec![3, 3, 2], vec![0, 2]),
        (3, vec![4, 3, 3], vec![1]),
        (3, vec![4, 5, 9, 2, 1], vec![3, 4]),
        (2, vec![3, 3, 3], vec![]),
    ] {
        let mut model = Model::new(quota, &sizes);
        model.pass(2 * HOUR);
        assert_eq!(model.running(), expected, "{quota} for {sizes:?}");
    }
}

/// Gangs that never fit take turns ever more rarely.
#[test]
fn a_quota_that_never_suffices_costs_few_pods() {
    let mut model = Model::new(2, &[3, 3, 3]);
    model.pass(24 * HOUR);
    let day = model.created;
    model.pass(24 * HOUR);
    assert!(day <= 80, "{day} pods were created in a day");
    assert!(model.created - day <= 40, "{} pods were created on the second day", model.created - day);
    assert!(model.deleted <= model.created);
}
