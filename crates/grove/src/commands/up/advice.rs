//! What to try next.

use std::{
    ffi::OsStr,
    io,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::Path,
};

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
    let [kubeconfig, bin] = [folder.kubeconfig(), bin].map(|it| quoted(it.as_os_str()));
    let text = [b"export KUBECONFIG=", &*kubeconfig, b"\nexport PATH=", &bin, b":\"$PATH\"\n"].concat();
    std::fs::write(&file, text)?;
    Ok(file)
}

/// As a word of a shell; a path need not be UTF-8.
fn quoted(text: &OsStr) -> Vec<u8> {
    let parts: Vec<&[u8]> = text.as_bytes().split(|it| *it == b'\'').collect();
    [b"'", &*parts.join(&br"'\''"[..]), b"'"].concat()
}

/// A path as a person would type it.
pub(super) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    shown_in(&here, path)
}

fn shown_in(here: &Path, path: &Path) -> String {
    let short = path.strip_prefix(here).ok().filter(|it| !it.as_os_str().is_empty());
    let text = match short {
        // A shell looks for a file without a slash where its programs are.
        Some(name) if name.components().count() == 1 => Path::new(".").join(name).display().to_string(),
        Some(relative) => relative.display().to_string(),
        None => path.display().to_string(),
    };
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+@%,:=".contains(it);
    if text.starts_with(|it: char| it.is_alphanumeric() || "/.".contains(it)) && text.chars().all(is_plain) {
        text
    } else {
        String::from_utf8_lossy(&quoted(text.as_ref())).into_owned()
    }
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
        assert_eq!(quoted("/it's here".as_ref()), br"'/it'\''s here'");
    }

    #[test]
    fn paths_are_what_a_shell_takes() {
        let rows = [
            ("/here/env", "./env"),
            ("/here/target/up/env", "target/up/env"),
            ("/here/my cluster/env", "'my cluster/env'"),
            ("/else/where", "/else/where"),
            ("/here/$HOME/env", "'$HOME/env'"),
            ("/here/~/env", "'~/env'"),
            ("/here/-x/env", "'-x/env'"),
            ("/here", "/here"),
        ];
        for (path, want) in rows {
            assert_eq!(shown_in(Path::new("/here"), Path::new(path)), want, "{path}");
        }
    }
}
