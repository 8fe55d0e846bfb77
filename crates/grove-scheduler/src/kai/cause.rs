//! Why nodes do not fit, in KAI's words.

use crate::words::Counted;

/// How KAI begins when it tried every node for one pod.
const NO_NODES: &str = "no nodes with enough resources were found";

/// `no nodes with enough resources were found: 3 node(s) …. 2 node(s) …`
#[derive(Debug, Default, PartialEq)]
pub(super) struct Cause {
    head: String,
    parts: Vec<Part>,
}

/// One thing that is wrong.
#[derive(Debug, PartialEq)]
struct Part {
    text: String,
    /// With how many nodes, at least and at most, where it is counted.
    nodes: Option<(u32, u32)>,
}

impl Cause {
    /// Whether a text is one and nothing else: what KAI says of a pod that it tried.
    pub(super) fn is_it(text: &str) -> bool {
        text.starts_with(NO_NODES)
    }

    pub(super) fn read(text: &str) -> Self {
        let (head, parts) = text.split_once(": ").unwrap_or((text, ""));
        let read = |part: &str| match Counted::read(part) {
            Some(Counted { count, text }) => Part { text: text.to_owned(), nodes: Some((count, count)) },
            None => Part { text: part.to_owned(), nodes: None },
        };
        let parts = parts.split(". ").map(|it| it.trim_end_matches('.')).filter(|it| !it.is_empty());
        Self { head: head.trim_end_matches('.').to_owned(), parts: parts.map(read).collect() }
    }

    pub(super) fn add(&mut self, other: Self) {
        for part in other.parts {
            match self.parts.iter_mut().find(|it| it.text == part.text) {
                Some(same) => {
                    let both = same.nodes.zip(part.nodes);
                    same.nodes = both.map(|((a, b), (least, most))| (a.min(least), b.max(most)));
                }
                None => self.parts.push(part),
            }
        }
    }

    pub(super) fn text(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Part::text).collect();
        if parts.is_empty() { self.head.clone() } else { format!("{}: {}", self.head, parts.join(", ")) }
    }
}

impl Part {
    fn text(&self) -> String {
        match self.nodes {
            Some((least, most)) if least == most => format!("{most} {}", self.text),
            Some((_, most)) => format!("up to {most} {}", self.text),
            None => self.text.clone(),
        }
    }
}
