//! Durations in Go's syntax (`4h`, `1m30s`), which is what `metav1.Duration` reads and writes.

use std::{borrow::Cow, fmt, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A duration kept as the user wrote it.
///
/// The text is not checked here: an object with a bad duration must still decode, so that validation can say
/// which field is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GoDuration(String);

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a duration such as 30s, 15m or 1h30m")]
pub struct DurationError;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

impl GoDuration {
    /// A duration of whole seconds, written the way Go writes it.
    pub fn from_secs(seconds: u64) -> Self {
        Self::from(Duration::from_secs(seconds))
    }

    /// The text as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The length in nanoseconds; negative for `-1s`.
    pub fn nanos(&self) -> Result<i64, DurationError> {
        let (negative, digits) = match self.0.as_bytes().first() {
            Some(b'-') => (true, &self.0[1..]),
            Some(b'+') => (false, &self.0[1..]),
            _ => (false, self.0.as_str()),
        };
        if digits == "0" {
            return Ok(0);
        }
        let mut total: i64 = 0;
        let mut rest = digits;
        while !rest.is_empty() {
            let (nanos, tail) = component(rest)?;
            total = total.checked_add(nanos).ok_or(DurationError)?;
            rest = tail;
        }
        if digits.is_empty() {
            return Err(DurationError);
        }
        Ok(if negative { -total } else { total })
    }

    /// The length, where it is not negative.
    pub fn to_std(&self) -> Result<Duration, DurationError> {
        u64::try_from(self.nanos()?).map(Duration::from_nanos).map_err(|_| DurationError)
    }
}

/// One `12.5h` at the start of `text`: its nanoseconds, and what follows.
fn component(text: &str) -> Result<(i64, &str), DurationError> {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(DurationError)?;
    let (number, rest) = text.split_at(number_end);
    let unit_end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
    let (unit, tail) = rest.split_at(unit_end);
    let scale: u128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS_PER_SECOND,
        "m" => 60 * NANOS_PER_SECOND,
        "h" => 3600 * NANOS_PER_SECOND,
        _ => return Err(DurationError),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(DurationError);
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| DurationError)? };
    let mut nanos = whole.checked_mul(scale).ok_or(DurationError)?;
    let mut step = scale;
    for digit in fraction.bytes() {
        step /= 10;
        nanos = nanos.checked_add(u128::from(digit.wrapping_sub(b'0')) * step).ok_or(DurationError)?;
        if !digit.is_ascii_digit() {
            return Err(DurationError);
        }
    }
    Ok((i64::try_from(nanos).map_err(|_| DurationError)?, tail))
}

impl From<Duration> for GoDuration {
    fn from(duration: Duration) -> Self {
        let seconds = duration.as_secs();
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let millis = duration.subsec_millis();
        let fraction = if millis == 0 {
            String::new()
        } else {
            format!(".{millis:03}").trim_end_matches('0').to_owned()
        };
        Self(match (hours, minutes) {
            (0, 0) => format!("{seconds}{fraction}s"),
            (0, _) => format!("{minutes}m{seconds}{fraction}s"),
            _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
        })
    }
}

impl From<&str> for GoDuration {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for GoDuration {
    fn schema_name() -> Cow<'static, str> {
        "GoDuration".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        let second = 1_000_000_000;
        let cases = [
            ("0", Some(0)),
            ("4h", Some(4 * 3600 * second)),
            ("1m30s", Some(90 * second)),
            ("1.5h", Some(5400 * second)),
            (".5s", Some(second / 2)),
            ("100ms", Some(second / 10)),
            ("1us", Some(1000)),
            ("-1s", Some(-second)),
            ("+1s", Some(second)),
            ("", None),
            ("-", None),
            ("1", None),
            ("1d", None),
            ("s", None),
            (".s", None),
            ("1.2.3s", None),
            ("9999999999999h", None),
            ("99999999999999999999999999999999999999999s", None),
            ("2562047h47m16s999999999h", None),
        ];
        for (text, want) in cases {
            assert_eq!(GoDuration::from(text).nanos().ok(), want, "{text}");
        }
    }

    #[test]
    fn writes_what_go_writes() {
        let cases = [(0, "0s"), (15, "15s"), (90, "1m30s"), (3600, "1h0m0s"), (14_400, "4h0m0s")];
        for (seconds, text) in cases {
            assert_eq!(GoDuration::from_secs(seconds).as_str(), text);
        }
        assert_eq!(GoDuration::from(Duration::from_millis(2500)).as_str(), "2.5s");
    }
}
