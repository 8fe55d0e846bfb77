//! What the answer to a dry run of a pod means for an update.
//!
//! Before the first pod of an old template is deleted, one of the new template is created as a dry run: the API server knows
//! rules that nobody else does (Pod Security, priority classes, LimitRanges, webhooks).

/// Whether an answer with this HTTP status and message refuses the template, so that no pod of it could be created.
///
/// An exceeded quota does not: the pod that is deleted makes room. Neither does an answer of a server that is overloaded or
/// broken, nor of a webhook that cannot do dry runs (400).
pub fn refuses_template(code: u16, message: &str) -> bool {
    match code {
        422 => true,
        403 => !message.contains("exceeded quota") && !message.contains("because it is being terminated"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of Kubernetes 1.37.
    #[test]
    fn only_answers_about_the_template_count() {
        let rows = [
            (422, r#"Pod "a-x7k2p" is invalid: spec.containers[0].image: Required value"#, true),
            (403, r#"pods "a-x7k2p" is forbidden: no PriorityClass with name fast was found"#, true),
            (403, r#"pods "a-x7k2p" is forbidden: violates PodSecurity "restricted:latest": …"#, true),
            (403, r#"admission webhook "policy.example.com" denied the request: no"#, true),
            (403, r#"pods "a-x7k2p" is forbidden: failed quota: q: must specify limits.cpu"#, true),
            (403, r#"pods "a-x7k2p" is forbidden: exceeded quota: q, requested: pods=1"#, false),
            (
                403,
                "pods is forbidden: unable to create new content in namespace n because it is being terminated",
                false,
            ),
            (400, r#"admission webhook "policy.example.com" does not support dry run"#, false),
            (409, "conflict", false),
            (429, "Too many requests", false),
            (500, "Internal error", false),
            (503, "the server is currently unable to handle the request", false),
        ];
        for (code, message, expected) in rows {
            assert_eq!(refuses_template(code, message), expected, "{code} {message}");
        }
    }
}
