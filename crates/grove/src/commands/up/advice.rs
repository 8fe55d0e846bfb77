//! What to try next.

use std::{io, os::unix::fs::symlink, path::Path};

use super::sample::Sample;
use crate::local::Folder;

/// Last line of the start in the foreground, where it does not draw.
pub(super) const STOP: &str = "Ctrl-C stops everything.";

/// Writes a file that a shell can read, and says how to use it.
pub(super) fn prepare(folder: &Folder, sample: Option<&Sample>) -> io::Result<Vec<String>> {
    let environment = write_environment(folder)?;
    Ok(lines(&shown(&folder.kubeconfig()), &shown(&environment), sample))
}

fn lines(kubeconfig: &str, environment: &str, sample: Option<&Sample>) -> Vec<String> {
    let mut lines = vec![
        format!("kubeconfig: {kubeconfig}"),
        format!("In another terminal, after `. {environment}`, try:"),
        "  kubectl get pcs,pcsg,pclq,pg,pods".to_owned(),
    ];
    match sample {
        Some(Sample { set, group: Some((group, replicas)), .. }) => {
            lines.push(format!("  grove status {set}"));
            lines.push(format!("  kubectl scale pcsg {group} --replicas={replicas}"));
        }
        Some(Sample { set, .. }) => {
            lines.push(format!("  grove status {set}"));
            lines.push(format!("  kubectl scale pcs {set} --replicas=2"));
        }
        None => lines.push("  kubectl apply -f set.yaml".to_owned()),
    }
    lines
}

/// KUBECONFIG, and this program on the PATH, also as a plugin of kubectl.
fn write_environment(folder: &Folder) -> io::Result<std::path::PathBuf> {
    let bin = folder.path().join("bin");
    std::fs::create_dir_all(&bin)?;
    for name in ["grove", "kubectl-grove"] {
        symlink(std::env::current_exe()?, bin.join(name))?;
    }
    let file = folder.path().join("env");
    let text = format!(
        "export KUBECONFIG={}\nexport PATH={}:\"$PATH\"\n",
        quoted(&folder.kubeconfig()),
        quoted(&bin)
    );
    std::fs::write(&file, text)?;
    Ok(file)
}

/// As a word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// A path as a person would type it.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_fit_what_was_applied() {
        let sample = Sample::builtin().unwrap();
        let has = |sample: Option<&Sample>, line: &str| lines("k", "e", sample).iter().any(|it| it == line);
        assert!(has(Some(&sample), "  kubectl scale pcsg chat-0-decode --replicas=4"));
        let single = Sample { group: None, ..sample };
        assert!(has(Some(&single), "  kubectl scale pcs chat --replicas=2"));
        assert!(has(None, "  kubectl apply -f set.yaml"));
        assert!(!has(None, "  grove status chat"));
    }

    #[test]
    fn paths_with_quotes_stay_one_word() {
        assert_eq!(quoted(Path::new("/it's here")), r"'/it'\''s here'");
    }
}
