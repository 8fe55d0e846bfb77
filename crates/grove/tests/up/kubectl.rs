//! What a newcomer types: kubectl as it is released, on a cluster of `grove up`. `make kubectl` gets it and runs this.

use std::process::{Command, Output};

use crate::{Folder, foreground::in_shell, root, text, up};

/// Where kubectl is.
pub(crate) const KUBECTL: &str = "KUBECTL";

struct Kubectl {
    program: String,
    kubeconfig: String,
}

impl Kubectl {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command.arg("--kubeconfig").arg(&self.kubeconfig).args(arguments).current_dir(root());
        command.output().unwrap()
    }

    /// Fails unless it succeeds and prints each of these.
    fn prints(&self, arguments: &[&str], wanted: &[&str]) -> String {
        let output = self.run(arguments);
        let printed = text(&output);
        assert!(output.status.success(), "kubectl {arguments:?}: {printed}");
        for part in wanted {
            assert!(printed.contains(part), "kubectl {arguments:?} does not print {part:?}:\n{printed}");
        }
        printed
    }
}

#[test]
#[ignore = "needs kubectl: make kubectl"]
fn kubectl_shows_changes_and_deletes_a_set() {
    let folder = Folder::new("kubectl");
    let output = up(&folder, &["--detach"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let program = std::env::var(KUBECTL).unwrap_or_else(|_| panic!("set {KUBECTL} to the program"));
    let kubectl = Kubectl { program, kubeconfig: folder.kubeconfig().display().to_string() };

    kubectl.prints(
        &["get", "nodes,pods,podgangs"],
        &["node/rack-0-node-0", "Ready", "pod/chat-0-cache-", "podgang.scheduler.grove.io/chat-0 "],
    );
    let short = kubectl.prints(&["get", "pcs,pcsg,pclq,pg"], &["podcliqueset.grove.io/chat"]);
    assert!(short.contains("podcliquescalinggroup.grove.io/chat-0-decode"), "{short}");
    kubectl.prints(&["describe", "pcs", "chat"], &["Name:", "Events:", "Pod Gang Statuses:"]);
    kubectl.prints(
        &["explain", "pcs.spec.template.cliques.spec.minAvailable"],
        &["GROUP:", "grove.io", "FIELD: minAvailable <integer>"],
    );
    kubectl.prints(&["explain", "pod.spec.schedulingGates"], &["FIELD: schedulingGates"]);
    kubectl.prints(&["auth", "can-i", "create", "podcliquesets"], &["yes"]);

    // The commands to try are those that are printed; one of them scales. That they are the README's is a test of its own.
    let printed = text(&output);
    let advice: Vec<&str> = printed.lines().map(str::trim).filter(|it| it.starts_with("kubectl ")).collect();
    assert_eq!(advice.len(), 2, "{printed}");
    for line in advice {
        let said = in_shell(&folder, line);
        assert!(said.status.success(), "{line}: {}", text(&said));
    }
    let plugin = in_shell(&folder, "kubectl grove status chat");
    assert!(text(&plugin).contains("chat in namespace default"), "{}", text(&plugin));
    let created = "jsonpath={.status.replicas}=4";
    kubectl.prints(&["wait", "pcsg", "chat-0-decode", "--for", created, "--timeout=60s"], &["condition met"]);
    kubectl.prints(&["wait", "pods", "--all", "--for=condition=Ready", "--timeout=60s"], &["condition met"]);

    kubectl.prints(&["apply", "-f", "samples/01-single-role.yaml"], &["created"]);
    kubectl.prints(&["apply", "-f", "samples/01-single-role.yaml"], &["podcliqueset.grove.io/server"]);
    let generation = kubectl.prints(&["get", "pcs", "server", "-o", "jsonpath={.metadata.generation}"], &[]);
    assert_eq!(generation, "1", "what is applied twice changes nothing");
    let refused = kubectl.run(&["patch", "pcs", "chat", "--type=merge", "-p", r#"{"spec":{"replicas":-1}}"#]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused).contains("spec.replicas"), "{}", text(&refused));

    kubectl.prints(&["create", "job", "hello", "--image=busybox", "--", "echo", "hi"], &["created"]);
    kubectl
        .prints(&["wait", "job", "hello", "--for=condition=complete", "--timeout=60s"], &["condition met"]);
    kubectl.prints(&["get", "jobs"], &["hello", "Complete", "1/1"]);
    kubectl.prints(&["delete", "job", "hello"], &["deleted"]);

    kubectl.prints(&["delete", "pcs", "chat", "--timeout=60s"], &["deleted"]);
    let left = kubectl.prints(&["get", "pods,podgangs,pclq", "-l", "app.kubernetes.io/part-of=chat"], &[]);
    assert!(left.contains("No resources found"), "{left}");
}
