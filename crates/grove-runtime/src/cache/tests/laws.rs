//! Any interleaving of a watch and of answers to writes, of one and the same history, ends in the true state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;

/// Small and good enough: xorshift64*.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % sides
    }
}

#[derive(Clone, Debug)]
enum Event {
    Applied(String),
    Deleted(String),
}

/// The server: objects by name, and its history as a watch shows it.
#[derive(Default)]
struct Server {
    objects: BTreeMap<String, String>,
    history: Vec<Event>,
    uids: usize,
}

impl Server {
    /// One change by anybody. Returns the answer that the one who made it gets.
    fn change(&mut self, dice: &mut Dice) -> Answer {
        let name = format!("ns/{}", dice.roll(4));
        let version = self.history.len() + 9;
        let (event, answer) = match self.objects.get(&name) {
            Some(form) if dice.roll(3) == 0 => {
                let uid = form.split(['@', ' ']).nth(1).unwrap().to_owned();
                self.objects.remove(&name);
                (Event::Deleted(format!("{name} {uid}@{version}")), Answer::Gone(name, uid))
            }
            Some(form) => {
                let uid = form.split(['@', ' ']).nth(1).unwrap();
                let form = format!("{name} {uid}@{version}");
                self.objects.insert(name, form.clone());
                (Event::Applied(form.clone()), Answer::Written(form))
            }
            None => {
                self.uids += 1;
                let form = format!("{name} u{}@{version}", self.uids);
                self.objects.insert(name, form.clone());
                (Event::Applied(form.clone()), Answer::Written(form))
            }
        };
        self.history.push(event);
        answer
    }

    fn has(&self, asked: &Unconfirmed) -> Option<&String> {
        self.objects.get(&format!("{}/{}", asked.namespace, asked.name))
    }
}

enum Answer {
    Written(String),
    Gone(String, String),
}

/// Our side: the cache under test, a watch at some point of history, answers that are on their way.
struct World {
    server: Server,
    cache: Cache<ConfigMap>,
    watched: usize,
    list: Option<VecDeque<String>>,
    answers: Vec<Answer>,
}

impl World {
    fn step(&mut self, dice: &mut Dice) {
        match dice.roll(10) {
            0..3 => {
                let answer = self.server.change(dice);
                // Half of the changes are ours.
                if dice.roll(2) == 0 {
                    self.answers.push(answer);
                }
            }
            3..6 => self.watch(),
            6..9 => self.answer(dice),
            _ if self.list.is_none() => self.relist(),
            _ => {}
        }
    }

    /// The next piece of the list or the next event of the watch.
    fn watch(&mut self) {
        if let Some(list) = &mut self.list {
            if let Some(form) = list.pop_front() {
                self.cache.observed(map(&form));
            } else {
                self.list = None;
                let unconfirmed = self.cache.relist_ended();
                self.ask(&unconfirmed);
            }
        } else if let Some(event) = self.server.history.get(self.watched) {
            self.watched += 1;
            match event {
                Event::Applied(form) => self.cache.observed(map(form)),
                Event::Deleted(form) => self.cache.deleted(&map(form)),
            }
        }
    }

    /// The watch is lost; a list at the present replaces what it would have shown.
    fn relist(&mut self) {
        self.cache.relist_started();
        self.list = Some(self.server.objects.values().cloned().collect());
        self.watched = self.server.history.len();
    }

    /// One answer arrives, not always the oldest.
    fn answer(&mut self, dice: &mut Dice) {
        if self.answers.is_empty() {
            return;
        }
        match self.answers.swap_remove(dice.roll(self.answers.len())) {
            Answer::Written(form) => drop(self.cache.written(map(&form))),
            Answer::Gone(place, uid) => {
                let (namespace, name) = place.split_once('/').unwrap();
                self.cache.gone(namespace, name, &uid);
            }
        }
    }

    fn ask(&self, unconfirmed: &[Unconfirmed]) {
        for asked in unconfirmed {
            match self.server.has(asked) {
                Some(form) => self.cache.observed(map(form)),
                None => self.cache.absent(asked),
            }
        }
    }

    fn settle(&mut self, dice: &mut Dice) {
        while !self.answers.is_empty() {
            self.answer(dice);
        }
        while self.list.is_some() || self.watched < self.server.history.len() {
            self.watch();
        }
        let unconfirmed = self.cache.unconfirmed(Duration::ZERO);
        self.ask(&unconfirmed);
    }
}

fn line(object: &ConfigMap) -> String {
    let meta = &object.metadata;
    format!("{}/{} {}", meta.namespace.as_deref().unwrap(), meta.name.as_deref().unwrap(), form(object))
}

#[test]
fn every_interleaving_ends_in_the_truth() {
    for seed in 1..=3_000 {
        let mut dice = Dice(seed);
        let cache = Cache::new();
        let index = cache.index(|o: &ConfigMap| o.metadata.name.iter().cloned().collect());
        // What somebody knows who only hears the changes.
        let replica = Arc::new(Mutex::new(BTreeSet::new()));
        let heard = replica.clone();
        cache.listen(move |change| {
            let mut replica = heard.lock();
            if let Some(old) = change.old {
                assert!(replica.remove(&line(old)), "seed {seed}: {} was never told of", line(old));
            }
            if let Some(new) = change.new {
                assert!(replica.insert(line(new)), "seed {seed}: {} was told of before", line(new));
            }
        });
        let mut world =
            World { server: Server::default(), cache, watched: 0, list: None, answers: Vec::new() };
        world.relist();
        for _ in 0..dice.roll(200) {
            world.step(&mut dice);
        }
        world.settle(&mut dice);

        let truth: Vec<_> = world.server.objects.values().cloned().collect();
        let known: Vec<_> = world.cache.list().iter().map(|o| line(o)).collect();
        assert_eq!(known, truth, "seed {seed}: the cache");
        let indexed: Vec<_> = (0..4).flat_map(|n| index.get(&n.to_string())).map(|o| line(&o)).collect();
        assert_eq!(indexed, truth, "seed {seed}: the index");
        assert!(replica.lock().iter().eq(&truth), "seed {seed}: the listeners");
    }
}
