//! The checked-in list of situations in which the sandbox decides otherwise than kube-scheduler, and why.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

use super::{
    play::Outcome,
    situation::{About, Situation},
};

/// The list: situation, what it is about, and the explanation.
pub(super) const LIST: &str = include_str!("../../../../../e2e/gang-disagreements.txt");

/// As many are tolerated.
const MOST: usize = 3;
/// Of these there is nothing to explain: a difference is an error of the sandbox.
const NEVER: [About; 3] = [About::Minima, About::AllOrNothing, About::RequiredTopology];

/// A situation of which different things became.
pub(super) struct Difference<'a> {
    pub(super) situation: &'a Situation,
    pub(super) real: Vec<Outcome>,
    pub(super) simulated: Vec<Outcome>,
}

/// What is wrong: differences that are not on the list, and lines that name none.
pub(super) fn judge(list: &str, differences: &[Difference<'_>]) -> Result<Vec<String>> {
    let mut lines = parse(list)?;
    let mut complaints = Vec::new();
    for it in differences {
        let about = lines.remove(it.situation.name.as_str());
        if about != Some(it.situation.about) {
            complaints.push(format!(
                "{} ({:?}): kube-scheduler: {}; sandbox: {}",
                it.situation.name,
                it.situation.about,
                phases(&it.real),
                phases(&it.simulated)
            ));
        }
    }
    complaints
        .extend(lines.keys().map(|it| format!("{it} is in e2e/gang-disagreements.txt, and does not differ")));
    Ok(complaints)
}

fn phases(outcomes: &[Outcome]) -> String {
    outcomes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", then ")
}

fn parse(list: &str) -> Result<BTreeMap<&str, About>> {
    let mut lines = BTreeMap::new();
    for line in list.lines().filter(|it| !it.trim().is_empty() && !it.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (name, about) = words.next().zip(words.next()).with_context(|| line.to_owned())?;
        let about: About = serde_json::from_value(about.into()).with_context(|| line.to_owned())?;
        ensure!(words.count() >= 5, "{name}: say why");
        ensure!(!NEVER.contains(&about), "{name}: the sandbox has to decide as kube-scheduler about that");
        ensure!(lines.insert(name, about).is_none(), "{name} is there twice");
    }
    ensure!(lines.len() <= MOST, "{} disagreements; at most {MOST} are tolerated", lines.len());
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios::situations::situation;

    #[test]
    fn our_list_names_situations_of_ours() {
        let situations = situation::all().unwrap();
        for (name, about) in parse(LIST).unwrap() {
            let named = situations.iter().find(|it| it.name == name);
            assert_eq!(named.map(|it| it.about), Some(about), "{name}");
        }
    }

    #[test]
    fn a_difference_needs_a_line_and_a_line_a_difference() {
        let situations = situation::all().unwrap();
        let situation = situations.iter().find(|it| it.about == About::Spread).unwrap();
        let differences =
            [Difference { situation, real: vec![Outcome::default()], simulated: vec![Outcome::default()] }];
        let line = format!("{} spread because of this and of that", situation.name);
        assert_eq!(judge(&line, &differences).unwrap().len(), 0);
        assert_eq!(judge("", &differences).unwrap().len(), 1);
        assert_eq!(judge(&line, &[]).unwrap().len(), 1);
        let other = format!("{} order because of this and of that", situation.name);
        assert_eq!(judge(&other, &differences).unwrap().len(), 1);
    }

    #[test]
    fn lines_are_few_and_explained_and_not_about_everything() {
        let line = |name: &str, about: &str| format!("{name} {about} because of this and of that\n");
        assert_eq!(parse(&format!("# why\n\n{}", line("a", "spread"))).unwrap().len(), 1);
        let wrong = [
            line("a", "minima"),
            line("a", "all-or-nothing"),
            line("a", "required-topology"),
            line("a", "colours"),
            "a spread so it is\n".to_owned(),
            line("a", "spread") + &line("a", "spread"),
            ["a", "b", "c", "d"].map(|it| line(it, "spread")).concat(),
        ];
        for list in wrong {
            assert!(parse(&list).is_err(), "{list}");
        }
    }
}
