//! Waits for pods and shows how far they are.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use tokio::sync::watch;

use super::pod_watch::{Progress, Stage};

/// Nothing takes that long on a machine that gets anywhere.
const DEADLINE: Duration = Duration::from_mins(10);
/// How often a terminal is painted.
const PAINT: Duration = Duration::from_millis(100);

/// Waits until `wanted` pods have reached all of `stages`. A terminal sees the counts move; each stage leaves a line.
pub(super) async fn follow(
    mut progress: watch::Receiver<Progress>,
    stages: &[Stage],
    wanted: usize,
    started: Instant,
) -> Result<()> {
    let terminal = std::io::stderr().is_terminal();
    let mut left = stages.to_vec();
    let following = async {
        loop {
            let now = progress.borrow_and_update().clone();
            if terminal {
                eprint!("\r\x1b[K");
            }
            left.retain(|stage| {
                let step = now.of(*stage);
                if let (true, Some(last)) = (step.count >= wanted, step.last) {
                    eprintln!(
                        "{:<8} {wanted} pods after {:.2} s",
                        name(*stage),
                        (last - started).as_secs_f64()
                    );
                }
                step.count < wanted
            });
            if left.is_empty() {
                return Ok(());
            }
            if let Some(reason) = now.ended {
                bail!("the watch of pods ended: {reason}");
            }
            if terminal {
                eprint!("{}", line(&now, stages, wanted));
                let _ = std::io::stderr().flush();
                tokio::time::sleep(PAINT).await;
            }
            if progress.changed().await.is_err() {
                bail!("the watch of pods was closed");
            }
        }
    };
    match tokio::time::timeout(DEADLINE, following).await {
        Ok(result) => result,
        Err(_) => bail!("not within {DEADLINE:?}: {}", line(&progress.borrow(), stages, wanted)),
    }
}

/// `created 300/1000  bound 120/1000  ready 80/1000`
fn line(progress: &Progress, stages: &[Stage], wanted: usize) -> String {
    let counts =
        stages.iter().map(|stage| format!("{} {}/{wanted}", name(*stage), progress.of(*stage).count));
    counts.collect::<Vec<_>>().join("  ")
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Created => "created",
        Stage::Released => "let go",
        Stage::Bound => "bound",
        Stage::Ready => "ready",
        Stage::Gone => "gone",
    }
}
