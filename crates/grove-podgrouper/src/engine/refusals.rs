//! Groups that the API server refused: a group of a thousand pods is not tried a thousand times a minute.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::Instant;

/// As long as what was refused is not tried again.
const PAUSE: Duration = Duration::from_secs(50);

/// What was refused lately, by scheduler, namespace and name.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<(usize, String, String), Refusal>>);

#[derive(Clone, Debug)]
struct Refusal {
    /// Of the object as it was written: another one is tried at once.
    hash: u64,
    when: Instant,
    why: String,
}

impl Refusals {
    /// Why this object was refused a moment ago, if it was.
    pub(crate) fn of(&self, key: &(usize, String, String), object: &Value) -> Option<String> {
        let all = self.0.lock();
        let known = all.get(key).filter(|it| it.hash == hash(object) && it.when.elapsed() < PAUSE);
        known.map(|it| it.why.clone())
    }

    /// It was refused now.
    pub(crate) fn note(&self, key: (usize, String, String), object: &Value, why: &str) {
        let mut all = self.0.lock();
        all.retain(|_, it| it.when.elapsed() < PAUSE);
        all.insert(key, Refusal { hash: hash(object), when: Instant::now(), why: why.to_owned() });
    }
}

fn hash(object: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    object.to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_same_object_is_refused_for_a_while() {
        let refusals = Refusals::default();
        let key = (0, "ns".to_owned(), "g".to_owned());
        assert_eq!(refusals.of(&key, &json!(1)), None);
        refusals.note(key.clone(), &json!(1), "no");
        assert_eq!(refusals.of(&key, &json!(1)).as_deref(), Some("no"));
        // Another object, another group.
        assert_eq!(refusals.of(&key, &json!(2)), None);
        assert_eq!(refusals.of(&(0, "ns".to_owned(), "h".to_owned()), &json!(1)), None);
        tokio::time::advance(PAUSE).await;
        assert_eq!(refusals.of(&key, &json!(1)), None);
    }
}
