//! Skips that are allowed: `e2e/skips.txt`, one line each: scheduler, scenario, reason.

/// The checked-in list.
const LIST: &str = include_str!("../../../../e2e/skips.txt");

/// The reason for which `scenario` may be skipped on `scheduler`.
pub(crate) fn reason(scheduler: &str, scenario: &str) -> Option<&'static str> {
    parse(LIST).find(|it| it.0 == scheduler && it.1 == scenario).map(|it| it.2)
}

fn parse(list: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let lines = list.lines().filter(|it| !it.trim().is_empty() && !it.starts_with('#'));
    lines.filter_map(|line| {
        let (scheduler, rest) = line.split_once(' ')?;
        let (scenario, reason) = rest.trim_start().split_once(' ')?;
        Some((scheduler, scenario, reason.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_scheduler_scenario_and_reason() {
        let list = "# comment\n\nvolcano gang_rack  no topology asked\nkai x y z\nbroken\n";
        let rows: Vec<_> = parse(list).collect();
        assert_eq!(rows, [("volcano", "gang_rack", "no topology asked"), ("kai", "x", "y z")]);
    }
}
