use std::path::PathBuf;

use grove_api::{
    config::{self, check_keys},
    field::Path as Field,
    manifest,
};
use grove_scheduler::builtin::builtin;

use super::{super::pod, *};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts/grove")
}

fn default_values() -> Value {
    let text = fs::read_to_string(folder().join("values.yaml")).unwrap();
    manifest::parse(&text).unwrap().remove(0).value
}

/// All templates, by hand or not.
fn templates(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(templates(&path));
        } else {
            all.push((path.clone(), fs::read_to_string(path).unwrap()));
        }
    }
    all
}

/// Every choice of switches in which at most `most` are not as in `initial`.
fn choices(initial: &[bool], most: usize) -> Vec<Vec<bool>> {
    let mut all = vec![initial.to_vec()];
    if most > 0 {
        for switch in 0..initial.len() {
            let mut turned = initial.to_vec();
            turned[switch] = !turned[switch];
            // Only later ones, so that no choice comes twice.
            let fixed = switch + 1;
            for rest in choices(&turned[fixed..], most - 1) {
                all.push([&turned[..fixed], &rest].concat());
            }
        }
    }
    all
}

fn there(objects: &[Child], on: &[bool]) -> Value {
    Tree::List(objects.to_vec()).value(on)
}

/// The conditions were found by turning one switch at a time. They hold for any three of them, too, and where all are off.
#[test]
fn any_switches_give_what_grove_manifests_gives() {
    let registry = builtin();
    let (switches, trees) = (switches(&registry), operator_trees(&registry).unwrap());
    let initial: Vec<bool> = switches.iter().map(|it| it.initial).collect();
    let opposite: Vec<bool> = initial.iter().map(|it| !it).collect();
    for on in choices(&initial, 3).into_iter().chain(choices(&opposite, 2)) {
        let mut installation = stand_in(&registry);
        for (switch, on) in switches.iter().zip(&on) {
            if switch.initial != *on {
                switch.turn(&mut installation);
            }
        }
        let wanted: Value = installed(&installation).unwrap().into_iter().map(|it| it.value).collect();
        assert_eq!(there(&trees, &on), wanted, "{on:?}");
    }
}

#[test]
fn any_parts_of_the_pod_grouper_give_what_grove_manifests_gives() {
    let registry = builtin();
    let hub = Hub::builtin();
    let trees = grouper::trees(&registry, &hub).unwrap();
    let all = grouper::Parts::all(&registry);
    let initial = vec![true; all.count()];
    for on in choices(&initial, initial.len()) {
        let mut parts = all.clone();
        (0..on.len()).filter(|it| !on[*it]).for_each(|it| parts.turn(it));
        // Without any scheduler there is nothing to do, and the chart refuses that.
        if parts.backends.contains(&true) {
            assert_eq!(there(&trees, &on), parts.objects(&registry, &hub).unwrap(), "{on:?}");
        }
    }
}

#[test]
fn the_chart_that_is_checked_in_is_the_one_that_is_made() {
    let files = files(&builtin(), &Hub::builtin()).unwrap();
    assert_eq!(check(&folder(), &files).unwrap(), Outcome::Success, "charts/grove is old: run `make chart`");
}

#[test]
fn default_values_are_values_that_there_are() {
    let values = default_values();
    assert_eq!(check_keys(&values, &Field::root(), schema::VALUES), []);
    for key in schema::VALUES.iter().filter(|it| it.name != "global") {
        assert!(values.get(key.name).is_some(), "values.yaml does not say what {} is", key.name);
    }
}

#[test]
fn every_value_that_templates_read_has_a_default() {
    let values = default_values();
    let mut count = 0;
    for (file, text) in templates(&folder().join("templates")) {
        for path in schema::used(&text) {
            let pointer = format!("/{}", path.replace('.', "/"));
            assert!(values.pointer(&pointer).is_some(), "{}: .Values.{path}", file.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// The operator of the chart is that of `grove manifests`, but for what upstream's chart has by default.
#[test]
fn the_default_configuration_is_that_of_manifests_and_upstreams() {
    let load = |value: &Value| builtin().with_known(|known| config::load(value, known)).unwrap();
    let mut chart = default_values()["config"].clone();
    chart["apiVersion"] = config::API_VERSION.into();
    chart["kind"] = config::KIND.into();
    chart["server"]["healthProbes"].as_object_mut().unwrap().shift_remove("enable").unwrap();
    let chart = load(&chart);
    assert!(chart.warnings.is_empty(), "{:?}", chart.warnings);
    let text = Installation::example().config_text;
    let mut wanted = load(&manifest::parse(&text).unwrap().remove(0).value).config;
    wanted.runtime_client_connection.burst = 150;
    wanted.debugging.clone_from(&chart.config.debugging);
    wanted.authorizer = chart.config.authorizer.clone();
    wanted.scheduler = chart.config.scheduler.clone();
    // Written as people write them.
    let seconds = |it: &config::OperatorConfiguration| {
        [&it.node_loss.after, &it.node_loss.replace_unit_after].map(|it| it.nanos().unwrap())
    };
    assert_eq!(seconds(&chart.config), seconds(&wanted));
    wanted.node_loss = chart.config.node_loss.clone();
    assert_eq!(chart.config, wanted);
    let profiles: Vec<&str> = chart.profiles.active().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(profiles, ["default-scheduler", "kai-scheduler"]);
    assert!(!chart.config.authorizer.enabled && !chart.config.debugging.unwrap().enable_profiling);
}

#[test]
fn default_resources_are_those_of_manifests() {
    let values = default_values();
    let wanted = json!(pod::hardened().resources);
    assert_eq!((&values["resources"], &values["podGrouper"]["resources"]), (&wanted, &wanted));
}

/// What is between the braces, without strings and comments.
fn actions(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut all = Vec::new();
    while let Some((_, after)) = rest.split_once("{{") {
        let (action, after) =
            after.split_once("}}").unwrap_or_else(|| panic!("an action is not closed: {after:.60}"));
        all.push(action.trim_matches('-').trim());
        rest = after;
    }
    all
}

#[test]
fn every_block_of_a_template_ends() {
    for (file, text) in templates(&folder().join("templates")) {
        let mut depth = 0;
        for action in actions(&text) {
            match action.split_whitespace().next().unwrap_or_default() {
                "if" | "with" | "range" | "define" => depth += 1,
                "end" => depth -= 1,
                _ => {}
            }
            assert!(depth >= 0, "{}: {action}", file.display());
            let count = |it: char| action.matches(it).count();
            assert_eq!(count('('), count(')'), "{}: {action}", file.display());
        }
        assert_eq!(depth, 0, "{}", file.display());
    }
}
