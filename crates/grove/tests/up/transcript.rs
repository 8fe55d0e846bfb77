//! The transcripts of the documentation are what is printed.

use std::collections::BTreeSet;

use crate::{
    Folder,
    foreground::{Foreground, in_shell},
    text,
};

const README: &str = include_str!("../../../../README.md");
const PAGE: &str = include_str!("../../../../docs/up.md");
/// How such a block begins.
const COMMAND: &str = "$ make up\n";
/// How the start ends.
const LAST: &str = "Ctrl-C stops everything.";
/// A line that stands for some that are left out.
const LEFT_OUT: &str = "…";

/// The lines of the first transcript of a page.
fn transcript(page: &str) -> Vec<&str> {
    let (_, block) = page.split_once(COMMAND).unwrap();
    block.split_once("\n```").unwrap().0.lines().collect()
}

/// Without what differs from run to run: times, ports, and the folder.
fn normalised(line: &str) -> String {
    let line = line.trim_end();
    let line = match line.split_once(" s  ") {
        Some((time, rest)) if time.trim().parse::<f64>().is_ok() => rest,
        _ => line,
    };
    // Gates above the minimum may be removed with those of the minimum, or a moment later.
    if let Some((gang, _)) = line.split_once(": scheduling gates of ") {
        return gang.to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let is_path = ["/kubeconfig", "/env`,"].iter().any(|it| word.ends_with(it));
        words.push(match word {
            _ if word.starts_with("127.0.0.1:") => "127.0.0.1:PORT".to_owned(),
            _ if is_path => word.rsplit('/').next().unwrap_or_default().to_owned(),
            _ => word.to_owned(),
        });
    }
    words.join(" ")
}

#[test]
fn the_documentation_shows_what_is_printed() {
    let folder = Folder::new("transcript");
    let cluster = Foreground::start(&folder, &["--plain"]);
    let mut printed = cluster.read_until(LAST);
    let status =
        printed.lines().map(str::trim).find(|it| it.starts_with("grove ")).expect("a command of ours");
    let said = in_shell(&folder, status);
    assert!(said.status.success(), "{status}: {}", text(&said));

    let (rest, code) = cluster.interrupt();
    printed.push_str(&rest);
    assert_eq!(code, Some(0), "{printed}");
    assert!(rest.ends_with("\nStopped.\n"), "{printed}");
    for file in ["kubeconfig", "operator.kubeconfig", "env"] {
        assert!(!folder.0.join(file).exists(), "{file} is removed");
    }

    let lines: BTreeSet<String> = printed.lines().map(normalised).collect();
    for page in [README, PAGE] {
        let shown = transcript(page);
        assert_eq!(shown.last(), Some(&LAST), "the whole start is shown");
        for line in shown.iter().filter(|it| **it != LEFT_OUT) {
            let line = normalised(line);
            // The scheduler may choose any of several racks that are equally good.
            let is_rack = line.contains('·') || line.chars().all(|it| it == ' ' || it.is_ascii_uppercase());
            assert!(
                is_rack || lines.contains(&line),
                "the documentation shows {line:?}, but this is printed:\n{printed}"
            );
        }
    }
}

#[test]
fn every_gpu_of_the_sample_is_drawn() {
    let shown = transcript(PAGE);
    let racks = shown.iter().skip_while(|it| !it.starts_with("zone-0")).take_while(|it| !it.is_empty());
    // Pods without GPUs follow a plus.
    let words = racks.flat_map(|it| it.split_whitespace()).filter(|it| !it.starts_with('+'));
    let taken: usize = words.map(|it| it.chars().filter(char::is_ascii_uppercase).count()).sum();
    assert_eq!(taken, 56);
}
