//! Everything that `make up-real` prints, in its order. It knows nodes and pods, and nothing of how a cluster is made: whatever
//! starts one may use it.

use std::{
    io::{self, Write},
    time::Duration,
};

use owo_colors::{AnsiColors, OwoColorize};

use super::{
    picture::{self, Line},
    story::Story,
    view::{NodeView, PodView},
};

/// Gangs take turns.
const COLOURS: [AnsiColors; 6] = [
    AnsiColors::Cyan,
    AnsiColors::Yellow,
    AnsiColors::Magenta,
    AnsiColors::Green,
    AnsiColors::Blue,
    AnsiColors::Red,
];

/// What a person may do next.
pub(super) struct Next {
    /// For any client.
    pub(super) kubeconfig: String,
    /// A file that a shell can read: KUBECONFIG, and the programs on the PATH.
    pub(super) environment: String,
    /// Name of the set.
    pub(super) set: String,
    /// A scaling group of it, and how many replicas to ask for.
    pub(super) group: Option<(String, usize)>,
}

/// Prints to `out`, in lines of about `width`.
pub(super) struct Front<W> {
    out: W,
    width: usize,
    story: Story,
    /// What the last picture showed.
    drawn: Vec<Line>,
}

impl<W: Write> Front<W> {
    pub(super) fn new(out: W, width: usize) -> Self {
        Self { out, width, story: Story::default(), drawn: Vec::new() }
    }

    /// The control plane answers, and has these nodes.
    pub(super) fn cluster(&mut self, version: &str, nodes: &[NodeView], took: Duration) -> io::Result<()> {
        let count = |of: fn(&NodeView) -> &String| {
            nodes.iter().map(of).collect::<std::collections::BTreeSet<_>>().len()
        };
        let gpus: usize = nodes.iter().map(|it| it.gpus).sum();
        self.line(took, &format!("Kubernetes {version} is up"))?;
        let (zones, racks) = (count(|it| &it.zone), count(|it| &it.rack));
        self.line(
            took,
            &format!("{zones} zones, {racks} racks, {} nodes, {gpus} GPUs, all simulated", nodes.len()),
        )
    }

    /// The operator is ready.
    pub(super) fn operator(&mut self, how: &str, took: Duration) -> io::Result<()> {
        self.line(took, &format!("the operator is ready, {how}"))
    }

    /// A set was applied; the story of its pods begins.
    pub(super) fn applied(&mut self, set: &str, file: &str, pods: usize, took: Duration) -> io::Result<()> {
        self.story = Story::of(pods);
        self.line(took, &format!("PodCliqueSet {set} applied, from {file}"))
    }

    /// Tells what is new of the pods; whether that was the end.
    pub(super) fn story(&mut self, pods: &[PodView], took: Duration) -> io::Result<bool> {
        for text in self.story.go_on(pods) {
            self.line(took, &text)?;
        }
        Ok(self.story.is_over(pods))
    }

    /// It takes long, and what to do about it.
    pub(super) fn late(&mut self, set: &str, took: Duration) -> io::Result<()> {
        self.line(took, &format!("not all pods are ready yet; `grove status {set}` shows what they wait for"))
    }

    /// Where each pod is; nothing if that was shown already.
    pub(super) fn picture(&mut self, nodes: &[NodeView], pods: &[PodView]) -> io::Result<()> {
        let lines = picture::draw(nodes, pods, self.width);
        if lines == self.drawn {
            return Ok(());
        }
        writeln!(self.out)?;
        for line in &lines {
            let text: String = line
                .0
                .iter()
                .map(|it| match it.tone {
                    Some(tone) => it.text.color(COLOURS[tone % COLOURS.len()]).to_string(),
                    None => it.text.clone(),
                })
                .collect();
            writeln!(self.out, "{}", text.trim_end())?;
        }
        self.drawn = lines;
        self.out.flush()
    }

    /// What to try, and how to end it.
    pub(super) fn next(&mut self, next: &Next) -> io::Result<()> {
        let Next { kubeconfig, environment, set, .. } = next;
        writeln!(self.out, "\n{}", format!("kubeconfig: {kubeconfig}").bold())?;
        writeln!(self.out, "In another terminal, after `. {environment}`, try:")?;
        writeln!(self.out, "  kubectl get pcs,pcsg,pclq,pg,pods")?;
        writeln!(self.out, "  grove status {set}")?;
        match &next.group {
            Some((group, replicas)) => {
                writeln!(self.out, "  kubectl scale pcsg {group} --replicas={replicas}")?;
            }
            None => writeln!(self.out, "  kubectl scale pcs {set} --replicas=2")?,
        }
        writeln!(self.out, "Ctrl-C stops everything.")?;
        self.out.flush()
    }

    /// Somebody else has it.
    pub(super) fn already_up(&mut self, kubeconfig: &str) -> io::Result<()> {
        writeln!(self.out, "Already running; Ctrl-C in its terminal stops it.\nkubeconfig: {kubeconfig}")?;
        self.out.flush()
    }

    /// The end.
    pub(super) fn ended(&mut self) -> io::Result<()> {
        writeln!(self.out, "\nStopped.")?;
        self.out.flush()
    }

    fn line(&mut self, took: Duration, text: &str) -> io::Result<()> {
        writeln!(self.out, "{} {text}", format!("{:5.1} s ", took.as_secs_f64()).dimmed())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests;
