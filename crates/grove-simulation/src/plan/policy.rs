//! A restart policy.

use std::time::Duration;

use grove_api::wire::GoDuration;
use serde_json::{Value, json};

use crate::random::Random;

/// How often and how fast what fails is restarted as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(crate) scope: String,
    /// Restarts in a window.
    pub(crate) most: u64,
    window: Duration,
    /// The first pause, and the longest.
    initial: Duration,
    longest: Duration,
}

impl Policy {
    pub(super) fn random(random: &mut Random) -> Self {
        let seconds = |number: u32| Duration::from_secs(u64::from(number));
        let initial = random.between(1, 20);
        let scopes = ["Pod", "Clique", "GroupReplica", "SetReplica"];
        Self {
            scope: (*random.pick(&scopes).unwrap_or(&"Clique")).to_owned(),
            most: u64::from(random.few(0, 6)),
            window: seconds(random.between(30, 600)),
            initial: seconds(initial),
            longest: seconds(initial + random.between(0, 100)),
        }
    }

    /// As it stands in an object.
    pub(crate) fn object(&self) -> Value {
        let time = |it: Duration| format!("{}s", it.as_secs());
        json!({
            "scope": self.scope, "maxRestarts": self.most, "window": time(self.window),
            "backoff": { "initial": time(self.initial), "max": time(self.longest) },
        })
    }

    /// What an object says.
    pub(crate) fn read(object: &Value) -> Self {
        let time = |pointer: &str| {
            let time = object.pointer(pointer).cloned();
            let time = time.and_then(|it| serde_json::from_value::<GoDuration>(it).ok());
            time.and_then(|it| it.to_std().ok()).unwrap_or_default()
        };
        Self {
            scope: object["scope"].as_str().unwrap_or_default().to_owned(),
            most: object["maxRestarts"].as_u64().unwrap_or_default(),
            window: time("/window"),
            initial: time("/backoff/initial"),
            longest: time("/backoff/max"),
        }
    }

    /// How long nothing is restarted after so many restarts.
    pub(crate) fn pause(&self, restarts: u64) -> Duration {
        let doubled = u32::try_from(restarts.saturating_sub(1)).unwrap_or(u32::MAX);
        let pause = self.initial.saturating_mul(2_u32.saturating_pow(doubled)).min(self.longest);
        if restarts == 0 { Duration::ZERO } else { pause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for seed in 0..20 {
            let policy = Policy::random(&mut Random::new(seed, 8));
            assert_eq!(Policy::read(&policy.object()), policy);
        }
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let text = json!({ "scope": "Pod", "maxRestarts": 9, "window": "60s", "backoff": { "initial": "5s", "max": "12s" } });
        let policy = Policy::read(&text);
        assert_eq!([0, 1, 2, 3, 900].map(|it| policy.pause(it).as_secs()), [0, 5, 10, 12, 12]);
    }
}
