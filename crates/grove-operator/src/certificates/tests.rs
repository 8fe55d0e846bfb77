//! The decision as a table; and certificates that are really made, over many lives of them.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::jiff::Timestamp;

use super::{
    Content, Facts, Lifetimes, Names,
    facts::Span,
    mint,
    plan::{Situation, Step, decide},
};

const SECOND: Duration = Duration::from_secs(1);
/// An authority lives 3,000 s and a leaf 600 s; the overlap is 100 s.
const LIFETIMES: Lifetimes = Lifetimes { authority: Duration::from_mins(50), leaf: Duration::from_mins(10) };

fn names() -> Names {
    Names::new("grove-system", "127.0.0.1")
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

/// A certificate that is made at a moment with a life; the skew is the tenth part of it.
fn made(moment: i64, life: i64) -> Span {
    Span { from: at(moment - life / 10), until: at(moment + life) }
}

fn facts(leaf: Span, issuer: usize, authorities: &[Span]) -> Facts {
    let names: BTreeSet<String> = names().iter().map(str::to_owned).collect();
    Facts { leaf, names, issuer, authorities: authorities.to_vec() }
}

fn step(now: i64, stored: Result<Facts, String>) -> Step {
    step_of(now, stored, true, None, true)
}

fn step_of(
    now: i64,
    stored: Result<Facts, String>,
    exists: bool,
    held: Option<&Facts>,
    published: bool,
) -> Step {
    let names = names();
    let published = published.then(|| at(-1_000));
    decide(&Situation { stored, exists, held, published, now: at(now), names: &names, lifetimes: LIFETIMES })
}

fn is_leaf(step: &Step, why: &str) -> bool {
    matches!(step, Step::IssueLeaf(_, text) if text.contains(why))
}

#[test]
fn what_is_good_is_kept_until_the_next_thing_is_due() {
    let good = facts(made(0, 600), 0, &[made(0, 3_000)]);
    // Two thirds of the 660 s from -60 on.
    assert_eq!(step(10, Ok(good.clone())), Step::Keep(at(380)));
    assert_eq!(step(379, Ok(good.clone())), Step::Keep(at(380)));
    assert!(is_leaf(&step(380, Ok(good.clone())), "two thirds"));
    assert!(is_leaf(&step(600, Ok(good)), "run out"));
    // The authority is due before the leaf.
    let good = facts(made(1_800, 600), 0, &[made(0, 3_000)]);
    assert_eq!(step(1_850, Ok(good)), Step::Keep(at(1_900)));
}

#[test]
fn what_cannot_be_used_is_replaced() {
    let replaced = |step: &Step| matches!(step, Step::Replace(_));
    assert_eq!(step(0, Err("tls.crt is missing".to_owned())), Step::Replace("tls.crt is missing".to_owned()));
    assert!(
        replaced(&step(3_000, Ok(facts(made(2_900, 600), 0, &[made(0, 3_000)])))),
        "the authority has run out"
    );
    assert!(
        replaced(&step(0, Ok(facts(made(0, 600), 0, &[made(900, 3_000)])))),
        "the authority is of the future"
    );
    assert!(replaced(&step(0, Ok(facts(made(0, 600), 0, &[])))));
}

#[test]
fn an_emptied_secret_gets_back_what_is_served_and_a_deleted_one_a_new_one() {
    let held = facts(made(0, 600), 0, &[made(0, 3_000)]);
    let empty = || Err("tls.crt is missing".to_owned());
    assert!(matches!(step_of(10, empty(), true, Some(&held), true), Step::Restore(_)));
    assert!(matches!(step_of(10, empty(), false, Some(&held), true), Step::Replace(_)));
    assert!(matches!(step_of(10, empty(), true, None, true), Step::Replace(_)));
    assert!(matches!(step_of(700, empty(), true, Some(&held), true), Step::Replace(_)), "it has run out");
}

#[test]
fn a_new_authority_is_trusted_before_it_signs_and_the_old_one_after() {
    let (old, new) = (made(0, 3_000), made(1_900, 3_000));
    assert_eq!(step(1_900, Ok(facts(made(1_800, 600), 0, &[old]))), Step::AddAuthority);
    let both = facts(made(1_800, 600), 1, &[new, old]);
    assert_eq!(step(1_901, Ok(both.clone())), Step::Keep(at(2_000)), "not before everybody can know it");
    assert!(is_leaf(&step(2_000, Ok(both.clone())), "new authority"));
    assert_eq!(
        step_of(2_000, Ok(both.clone()), true, None, false),
        Step::Keep(at(2_000)),
        "not before it is published"
    );
    assert_eq!(
        step_of(2_300, Ok(both.clone()), true, None, false),
        Step::Keep(at(2_300)),
        "not even if the leaf is due"
    );
    assert!(
        is_leaf(&step_of(2_400, Ok(both), true, None, false), "run out"),
        "there is nothing to lose any more"
    );
    let moved = facts(made(2_000, 600), 0, &[new, old]);
    // The leaf may have been made at the end of its first second.
    assert_eq!(step(2_001, Ok(moved.clone())), Step::Keep(at(2_101)));
    assert_eq!(step(2_101, Ok(moved)), Step::DropOldAuthorities);
}

/// The webhook configurations could not be written for a while, or another client wrote them.
#[test]
fn an_authority_that_was_published_late_signs_later() {
    let (old, new) = (made(0, 3_000), made(1_900, 3_000));
    let names = names();
    let step = |now: i64, since: i64| {
        decide(&Situation {
            stored: Ok(facts(made(1_800, 600), 1, &[new, old])),
            exists: true,
            held: None,
            published: Some(at(since)),
            now: at(now),
            names: &names,
            lifetimes: LIFETIMES,
        })
    };
    assert_eq!(step(2_050, 2_040), Step::Keep(at(2_100)), "a minute, in which API servers hear of it");
    assert!(is_leaf(&step(2_100, 2_040), "new authority"));
    assert_eq!(step(1_910, 1_901), Step::Keep(at(2_000)), "not earlier than otherwise");
}

#[test]
fn names_are_added_to_those_of_others() {
    let mut other = facts(made(0, 600), 0, &[made(0, 3_000)]);
    other.names.remove("127.0.0.1");
    other.names.insert("10.0.0.7".to_owned());
    let Step::IssueLeaf(names, why) = step(10, Ok(other.clone())) else { panic!("kept") };
    assert_eq!(why, "it is not for 127.0.0.1");
    let all: BTreeSet<&str> = names.iter().collect();
    assert!(
        all.contains("10.0.0.7")
            && all.contains("127.0.0.1")
            && all.contains("grove-operator.grove-system.svc")
    );
    other.names.extend((0..40).map(|it| format!("10.0.1.{it}")));
    let Step::IssueLeaf(names, _) = step(10, Ok(other)) else { panic!("kept") };
    assert_eq!(names.len(), 5, "they do not grow for ever");
}

#[test]
fn names_are_those_of_the_service_and_of_a_certain_address() {
    let all = |address: &str| Names::new("ns", address).iter().map(str::to_owned).collect::<Vec<_>>();
    let service = [
        "grove-operator",
        "grove-operator.ns",
        "grove-operator.ns.svc",
        "grove-operator.ns.svc.cluster.local",
    ];
    assert_eq!(all(""), service);
    assert_eq!(all("0.0.0.0"), service);
    assert_eq!(all("[::]"), service);
    assert!(all("[::1]").contains(&"::1".to_owned()));
    assert!(all("desk.example.com").contains(&"desk.example.com".to_owned()));
}

#[test]
fn what_is_made_is_what_was_asked_for() {
    let content = mint::fresh(&names(), at(0), LIFETIMES).unwrap();
    let got = Facts::of(&content).unwrap();
    assert_eq!(got, facts(made(0, 600), 0, &[made(0, 3_000)]));
    // A leaf does not outlive its authority.
    let late = mint::with_leaf(&content, &names(), at(2_900), LIFETIMES).unwrap();
    assert_eq!(Facts::of(&late).unwrap().leaf.until, at(3_000));
}

#[test]
fn contents_that_do_not_fit_together_are_told() {
    let (one, two) =
        (mint::fresh(&names(), at(0), LIFETIMES).unwrap(), mint::fresh(&names(), at(0), LIFETIMES).unwrap());
    let text = |bytes: &[u8]| bytes.to_vec();
    for (content, why) in [
        (Content::default(), "tls.crt is missing"),
        (Content { leaf_key: text(&two.leaf_key), ..one.clone() }, "tls.key"),
        (Content { authority_key: text(&two.authority_key), ..one.clone() }, "ca.key is not the key"),
        (
            Content {
                authorities: text(&two.authorities),
                authority_key: text(&two.authority_key),
                ..one.clone()
            },
            "signed by none",
        ),
        (Content { leaf: b"garbage".to_vec(), ..one.clone() }, "tls.crt has no certificate"),
        (Content { authority_key: b"\xff".to_vec(), ..one.clone() }, "ca.key is no PEM"),
        (
            Content { authorities: text(&one.leaf), authority_key: text(&one.leaf_key), ..one.clone() },
            "no authority",
        ),
    ] {
        let got = Facts::of(&content).unwrap_err();
        assert!(got.contains(why), "{got} should say {why}");
    }
}

/// The certificates of a PEM text, as text.
fn blocks(pem: &[u8]) -> Vec<&str> {
    let text = std::str::from_utf8(pem).unwrap();
    text.split("-----END CERTIFICATE-----").map(str::trim).filter(|it| !it.is_empty()).collect()
}

/// Ten lives of an authority, second by second: the leaf in use is always valid, and always signed by somebody who was
/// trusted well before.
#[test]
fn over_many_lives_clients_always_trust_what_is_served() {
    let lifetimes = Lifetimes { authority: 30 * SECOND, leaf: 10 * SECOND };
    let mut content = mint::fresh(&names(), at(0), lifetimes).unwrap();
    // What clients trust: the bundle as it was a second ago.
    let mut trusted = content.authorities.clone();
    let (mut leaves, mut authorities) = (0, 0);
    for now in 0..300 {
        let before = content.clone();
        loop {
            let names = names();
            let decision = decide(&Situation {
                stored: Facts::of(&content),
                exists: true,
                held: None,
                published: (trusted == content.authorities).then(|| at(0)),
                now: at(now),
                names: &names,
                lifetimes,
            });
            content = match decision {
                Step::Keep(next) => {
                    assert!(next >= at(now), "{next}");
                    break;
                }
                Step::IssueLeaf(names, _) => {
                    leaves += 1;
                    mint::with_leaf(&content, &names, at(now), lifetimes).unwrap()
                }
                Step::AddAuthority => {
                    authorities += 1;
                    mint::with_authority(&content, at(now), lifetimes).unwrap()
                }
                Step::DropOldAuthorities => mint::with_newest_authority(&content).unwrap(),
                other => panic!("{now}: {other:?}"),
            };
        }
        let facts = Facts::of(&content).unwrap();
        assert!(facts.leaf.from <= at(now) && at(now) < facts.leaf.until, "{now}: {facts:?}");
        let issuer = blocks(&content.authorities)[facts.issuer];
        assert!(blocks(&trusted).contains(&issuer), "{now}: nobody trusts the leaf yet");
        trusted.clone_from(&before.authorities);
    }
    assert!(leaves >= 30 && authorities >= 10, "{leaves} leaves, {authorities} authorities");
}
