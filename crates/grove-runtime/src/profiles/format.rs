//! The format of `go tool pprof`: a protocol buffer of samples, which name locations, which name functions, which name strings.
//!
//! Written here, because the profiler's own writers bring a compiler of protocol buffers into the build.

use std::collections::BTreeMap;
use std::time::Duration;

/// A place in the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: u64,
}

/// How often a stack was met.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The innermost call first.
    pub(super) stack: Vec<Place>,
    pub(super) count: u64,
}

/// When and how samples were taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Since 1970.
    pub(super) start: Duration,
    pub(super) duration: Duration,
    /// Processor time between two samples.
    pub(super) period: Duration,
}

/// The profile.
pub(super) fn encode(samples: &[Sample], timing: Timing) -> Vec<u8> {
    let mut profile = Message::default();
    let mut tables = Tables::default();
    // Index 0 has to be the empty string.
    tables.strings.id(String::new());
    let period = nanos(timing.period);
    for (name, unit) in [("samples", "count"), ("cpu", "nanoseconds")] {
        profile.message(1, &tables.value_type(name, unit));
    }
    for sample in samples {
        let places: Vec<u64> = sample.stack.iter().map(|it| tables.places.id(it.clone()) + 1).collect();
        let mut message = Message::default();
        message.numbers(1, &places);
        message.numbers(2, &[sample.count, sample.count.saturating_mul(period)]);
        profile.message(2, &message);
    }
    for (index, place) in tables.places.list.clone().into_iter().enumerate() {
        let function = tables.functions.id((place.function, place.file)) + 1;
        let (mut line, mut location) = (Message::default(), Message::default());
        line.number(1, function);
        line.number(2, place.line);
        location.number(1, index as u64 + 1);
        location.message(4, &line);
        profile.message(4, &location);
    }
    for (index, (name, file)) in tables.functions.list.clone().into_iter().enumerate() {
        let (name, file) = (tables.strings.id(name), tables.strings.id(file));
        let mut function = Message::default();
        function.number(1, index as u64 + 1);
        function.number(2, name);
        function.number(4, file);
        profile.message(5, &function);
    }
    let kind = tables.value_type("cpu", "nanoseconds");
    for string in &tables.strings.list {
        profile.bytes(6, string.as_bytes());
    }
    profile.number(9, nanos(timing.start));
    profile.number(10, nanos(timing.duration));
    profile.message(11, &kind);
    profile.number(12, period);
    profile.0
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What is named by its index.
#[derive(Default)]
struct Tables {
    strings: Table<String>,
    functions: Table<(String, String)>,
    places: Table<Place>,
}

impl Tables {
    fn value_type(&mut self, name: &str, unit: &str) -> Message {
        let mut message = Message::default();
        message.number(1, self.strings.id(name.to_owned()));
        message.number(2, self.strings.id(unit.to_owned()));
        message
    }
}

struct Table<T> {
    list: Vec<T>,
    ids: BTreeMap<T, u64>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { list: Vec::new(), ids: BTreeMap::new() }
    }
}

impl<T: Clone + Ord> Table<T> {
    /// The index of `item`, which is added if it is new.
    fn id(&mut self, item: T) -> u64 {
        *self.ids.entry(item).or_insert_with_key(|item| {
            self.list.push(item.clone());
            self.list.len() as u64 - 1
        })
    }
}

/// A protocol buffer while it is written: fields with their numbers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Zero is what a field has that is not there.
    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    fn numbers(&mut self, field: u64, values: &[u64]) {
        let mut packed = Self::default();
        for value in values {
            packed.varint(*value);
        }
        self.bytes(field, &packed.0);
    }

    fn message(&mut self, field: u64, value: &Self) {
        self.bytes(field, &value.0);
    }

    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// Seven bits in each byte, the lowest first; the eighth says that there are more.
    #[allow(clippy::cast_possible_truncation, reason = "that is how it is cut")]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written out by hand after `profile.proto`.
    #[test]
    fn a_small_profile() {
        let place =
            |function: &str, line| Place { function: function.to_owned(), file: "f".to_owned(), line };
        let samples = [
            Sample { stack: vec![place("a", 300), place("b", 2)], count: 1 },
            Sample { stack: vec![place("b", 2)], count: 3 },
        ];
        let timing = Timing {
            start: Duration::from_nanos(1),
            duration: Duration::from_nanos(2),
            period: Duration::from_nanos(10),
        };
        let mut want: Vec<u8> = Vec::new();
        // Strings: 1 samples, 2 count, 3 cpu, 4 nanoseconds, 5 a, 6 f, 7 b.
        want.extend([0x0a, 4, 0x08, 1, 0x10, 2]);
        want.extend([0x0a, 4, 0x08, 3, 0x10, 4]);
        want.extend([0x12, 8, 0x0a, 2, 1, 2, 0x12, 2, 1, 10]);
        want.extend([0x12, 7, 0x0a, 1, 2, 0x12, 2, 3, 30]);
        want.extend([0x22, 9, 0x08, 1, 0x22, 5, 0x08, 1, 0x10, 0xac, 0x02]);
        want.extend([0x22, 8, 0x08, 2, 0x22, 4, 0x08, 2, 0x10, 2]);
        want.extend([0x2a, 6, 0x08, 1, 0x10, 5, 0x20, 6]);
        want.extend([0x2a, 6, 0x08, 2, 0x10, 7, 0x20, 6]);
        for text in ["", "samples", "count", "cpu", "nanoseconds", "a", "f", "b"] {
            want.extend([0x32, u8::try_from(text.len()).unwrap()]);
            want.extend(text.bytes());
        }
        want.extend([0x48, 1, 0x50, 2, 0x5a, 4, 0x08, 3, 0x10, 4, 0x60, 10]);
        assert_eq!(encode(&samples, timing), want);
    }
}
