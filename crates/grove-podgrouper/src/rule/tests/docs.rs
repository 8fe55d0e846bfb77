//! The examples of `docs/podgrouper/grouping-rules.md` are true.

use std::fmt::Write;

use grove_api::{
    manifest,
    review::{Review, review},
    validation::{Environment, Verdict},
};

use super::*;

const PAGE: &str = include_str!("../../../../../docs/podgrouper/grouping-rules.md");

/// The blocks of a language, in their order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGE.split(&fence).skip(1).filter_map(|it| it.split("```").next()).collect()
}

/// The group of a pod of the workload in the block, by the rule in the next one.
fn example(block: usize, labels: &[(&str, &str)]) -> Group {
    let yaml = blocks("yaml");
    let parse = |index: usize| manifest::parse(yaml[index]).unwrap().remove(0).value;
    let (mut workload, rule) = (parse(block), parse(block + 1));
    match review(&rule, &Environment::default()) {
        Review::Checked(verdict) => assert_eq!(verdict, Verdict::default()),
        Review::Foreign => panic!("not a rule: {rule}"),
    }
    workload["metadata"]["uid"] = "uid".into();
    let settings = settings_with(&[serde_json::from_value(rule).unwrap()]);
    Case::new(labelled(pod("p", "pod-uid"), labels), vec![workload]).set(settings).group().unwrap()
}

/// As the page shows the parts of a group.
fn parts(group: &Group) -> String {
    let mut text = format!("minSubGroup {}\n", group.min_sub_groups.unwrap());
    for part in &group.sub_groups {
        let _ = write!(text, "  {}: minMember {}", part.name, part.min_members);
        if let Some(it) = &part.topology {
            let _ = write!(text, ", required {} of {}", it.required.as_ref().unwrap(), it.name);
        }
        text.push('\n');
    }
    text
}

#[test]
fn all_blocks_are_looked_at() {
    assert_eq!((blocks("yaml").len(), blocks("text").len()), (4, 2));
}

#[test]
fn the_job_is_one_group() {
    let group = example(0, &[]);
    let text = format!(
        "minMember {}, queue {}, priorityClass {}\n",
        group.min_members, group.queue, group.priority_class
    );
    assert_eq!(text, blocks("text")[0]);
    assert!(group.sub_groups.is_empty());
}

#[test]
fn the_list_becomes_sub_groups() {
    let table: [(&[(&str, &str)], &str); 4] = [
        (&[("example.com/role", "head")], "head"),
        (&[("example.com/worker-group", "prefill")], "prefill"),
        (&[("example.com/worker-group", "decode")], "decode"),
        (&[], "helpers"),
    ];
    for (labels, part) in table {
        let group = example(2, labels);
        assert_eq!(parts(&group), blocks("text")[1]);
        assert_eq!(group.sub_group_of("p").unwrap().name, part);
    }
}
