//! What the environment of the process asks for.

use std::{fs, process::Output};

use crate::{Folder, command, text};

const PROXY: &str = "http://proxy.invalid:1";

/// Behind a company's proxy.
fn proxied(arguments: &[&str]) -> Output {
    command(arguments)
        .env("HTTPS_PROXY", PROXY)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap()
}

#[test]
fn a_proxy_is_not_used_on_the_loopback_interface() {
    let folder = Folder::new("proxy");
    let (path, kubeconfig) = (folder.0.display().to_string(), folder.kubeconfig().display().to_string());
    let up = proxied(&["up", "--folder", &path, "--empty", "--detach", "--topology", "hosts=1"]);
    assert_eq!(up.status.code(), Some(0), "{}", text(&up));
    let status = proxied(&["status", "--kubeconfig", &kubeconfig]);
    assert!(text(&status).contains("no PodCliqueSet"), "{}", text(&status));

    let remote =
        fs::read_to_string(&kubeconfig).unwrap().replace("https://127.0.0.1", "https://server.invalid");
    let file = folder.0.join("remote");
    fs::write(&file, remote).unwrap();
    let refused = proxied(&["status", "--kubeconfig", &file.display().to_string()]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    let remedy =
        "proxy.invalid is configured as one by HTTPS_PROXY; unset it, or add server.invalid to NO_PROXY";
    assert!(text(&refused).contains(remedy), "{}", text(&refused));
}

#[test]
fn without_a_home_the_remedy_is_one_that_the_command_has() {
    let without_home = |name: &str| {
        let output = command(&[name]).env_remove("HOME").env_remove("XDG_STATE_HOME").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output));
        text(&output)
    };
    for name in ["up", "down"] {
        assert!(without_home(name).contains("HOME is set; choose a folder with --folder"), "{name}");
    }
    assert_eq!(without_home("tour"), "grove: neither XDG_STATE_HOME nor HOME is set\n");
}
