//! Amounts of resources as exact integers: thousandths of a processor, bytes of memory, pieces of everything else.

use std::collections::BTreeMap;

use grove_api::quantity::Amount;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Processors, counted in thousandths.
pub const CPU: &str = "cpu";
/// Memory, counted in bytes.
pub const MEMORY: &str = "memory";
/// How many pods a node takes; every pod needs one.
pub const PODS: &str = "pods";
/// GPUs by NVIDIA.
pub const GPU: &str = "nvidia.com/gpu";

/// A quantity that cannot be counted with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{resource}: {text:?} is not a quantity that can be counted: use a number such as 500m, 4 or 16Gi")]
pub struct QuantityError {
    /// The resource.
    pub resource: String,
    /// What stands there.
    pub text: String,
}

/// An amount of each of several resources. What is not listed is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resources(BTreeMap<String, i64>);

impl Resources {
    /// From quantities as Kubernetes writes them; fractions are rounded up.
    pub fn parse(quantities: &BTreeMap<String, Quantity>) -> Result<Self, QuantityError> {
        let amounts = quantities.iter().map(|(name, it)| Ok((name.clone(), parse(name, &it.0)?)));
        Ok(Self(amounts.collect::<Result<_, _>>()?))
    }

    /// The amount of a resource.
    pub fn get(&self, resource: &str) -> i64 {
        self.0.get(resource).copied().unwrap_or_default()
    }

    /// Sets the amount of a resource.
    pub fn set(&mut self, resource: &str, amount: i64) {
        self.0.insert(resource.to_owned(), amount);
    }

    /// Adds to the amounts. Sums end at the largest number, which no node has.
    pub fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let sum = self.0.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*amount);
        }
    }

    /// The larger amount of each resource.
    #[must_use]
    pub fn max(mut self, other: &Self) -> Self {
        for (name, amount) in &other.0 {
            let own = self.0.entry(name.clone()).or_default();
            *own = (*own).max(*amount);
        }
        self
    }

    /// Resources of which there is some, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().filter(|it| *it.1 != 0).map(|(name, amount)| (name.as_str(), *amount))
    }
}

/// The amount that a quantity stands for, rounded up.
pub fn parse(resource: &str, text: &str) -> Result<i64, QuantityError> {
    let places = if resource == CPU { 3 } else { 0 };
    let amount = Amount::parse(text).and_then(|it| it.scaled(places)).filter(|it| *it >= 0);
    amount.ok_or_else(|| QuantityError { resource: resource.to_owned(), text: text.to_owned() })
}

/// Whether a resource is a device, which a node either has or not: `nvidia.com/gpu`.
pub fn is_device(resource: &str) -> bool {
    resource.contains('/')
}

/// An amount for people: `1.5`, `16Gi`, `8`.
pub fn text(resource: &str, amount: i64) -> String {
    let is_bytes = [MEMORY, "ephemeral-storage"].contains(&resource) || resource.starts_with("hugepages-");
    if resource == CPU {
        return decimal(amount, 1000, 3, "");
    }
    if !is_bytes {
        return amount.to_string();
    }
    let units: [(i64, &str); 3] = [(1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    let unit = units.into_iter().find(|it| amount >= it.0);
    unit.map_or_else(|| amount.to_string(), |(size, suffix)| decimal(amount, size, 1, suffix))
}

/// With so many places at most, rounded down.
fn decimal(amount: i64, unit: i64, places: u32, suffix: &str) -> String {
    let scale = 10_i128.pow(places);
    let scaled = i128::from(amount) * scale / i128::from(unit);
    let digits = format!("{:0width$}", scaled % scale, width = places as usize);
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{}{point}{digits}{suffix}", scaled / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_become_integers() {
        let rows = [
            (CPU, "500m", Some(500)),
            (CPU, "2", Some(2000)),
            (CPU, "1.5", Some(1500)),
            (CPU, "100u", Some(1)),
            (MEMORY, "1Ki", Some(1024)),
            (MEMORY, "1.5Gi", Some(1_610_612_736)),
            (MEMORY, "128974848000m", Some(128_974_848)),
            (GPU, "8", Some(8)),
            (GPU, "-1", None),
            (GPU, "many", None),
            (MEMORY, "16Ei", None),
        ];
        for (resource, text, want) in rows {
            assert_eq!(parse(resource, text).ok(), want, "{resource} {text}");
        }
        let error = parse(GPU, "many").unwrap_err().to_string();
        assert!(error.starts_with("nvidia.com/gpu: \"many\" is not a quantity"), "{error}");
    }

    #[test]
    fn amounts_for_people() {
        let rows = [
            (CPU, 500, "0.5"),
            (CPU, 64_000, "64"),
            (MEMORY, 1 << 30, "1Gi"),
            (MEMORY, 1536 << 20, "1.5Gi"),
            (MEMORY, 512 << 20, "512Mi"),
            (MEMORY, 100, "100"),
            (GPU, 8, "8"),
        ];
        for (resource, amount, want) in rows {
            assert_eq!(text(resource, amount), want);
        }
    }

    #[test]
    fn sums_do_not_overflow() {
        let mut sum = Resources::default();
        sum.set(CPU, i64::MAX);
        let more = sum.clone();
        sum.add(&more);
        assert_eq!(sum.get(CPU), i64::MAX);
    }
}
