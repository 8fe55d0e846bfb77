//! How long ago something was, as people read it: `5s`, `3m20s`, `4h`, `2d6h`.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long ago a time was that objects have, such as `2026-01-02T12:00:00Z`.
pub(super) fn since(time: Option<&Value>, now: Timestamp) -> String {
    match time.and_then(Value::as_str).filter(|it| !it.is_empty()) {
        None => "<unknown>".to_owned(),
        Some(text) => match text.parse::<Timestamp>() {
            Ok(time) => duration(now.as_second() - time.as_second()),
            Err(_) => "<invalid>".to_owned(),
        },
    }
}

/// A time in two or three digits that count.
pub(super) fn duration(seconds: i64) -> String {
    // Clocks differ a little.
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let two = |large: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{small_unit}"),
    };
    let (minutes, hours, days, years) = (seconds / MINUTE, seconds / HOUR, seconds / DAY, seconds / YEAR);
    match seconds {
        ..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, "m", seconds % MINUTE, "s"),
        _ if hours < 3 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two(days, "d", hours % 24, "h"),
        _ if years < 2 => format!("{days}d"),
        _ if years < 8 => two(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The rows of the real server's own test.
    #[test]
    fn durations() {
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (1, "1s"),
            (70, "70s"),
            (119, "119s"),
            (120, "2m"),
            (190, "3m10s"),
            (599, "9m59s"),
            (10 * MINUTE, "10m"),
            (61 * MINUTE, "61m"),
            (179 * MINUTE, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 7 * MINUTE, "3h7m"),
            (7 * HOUR + 59 * MINUTE, "7h59m"),
            (8 * HOUR + MINUTE, "8h"),
            (47 * HOUR, "47h"),
            (48 * HOUR, "2d"),
            (50 * HOUR, "2d2h"),
            (8 * DAY + HOUR, "8d"),
            (500 * DAY, "500d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + 30 * DAY, "2y30d"),
            (9 * YEAR + DAY, "9y"),
        ] {
            assert_eq!(duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn times() {
        let now: Timestamp = "2026-01-02T12:00:00Z".parse().unwrap();
        for (time, expected) in [
            (json!("2026-01-02T11:58:00Z"), "2m"),
            (json!("2026-01-02T11:59:59.999999Z"), "1s"),
            (json!("2027-01-02T12:00:00Z"), "<invalid>"),
            (json!("yesterday"), "<invalid>"),
            (json!(""), "<unknown>"),
            (Value::Null, "<unknown>"),
        ] {
            assert_eq!(since(Some(&time), now), expected, "{time}");
        }
        assert_eq!(since(None, now), "<unknown>");
    }
}
