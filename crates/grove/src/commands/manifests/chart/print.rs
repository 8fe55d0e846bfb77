//! A tree as the text of a template.

use serde_json::Value;

use super::tree::{Child, Template, Tree, When};

/// How a template says things.
pub(super) struct Words<'a> {
    /// For each switch, what is true where it is on.
    pub(super) switches: Vec<&'a str>,
    /// Texts that stand for expressions.
    pub(super) texts: Vec<(String, &'a str)>,
    /// Numbers that do.
    pub(super) numbers: Vec<(i64, &'a str)>,
}

impl Words<'_> {
    /// An object, as one document.
    pub(super) fn document(&self, object: &Child) -> String {
        let mut lines = Vec::new();
        self.conditional(&object.when, &mut lines, |out| {
            out.push("---".to_owned());
            self.tree(&object.tree, 0, out);
        });
        lines.join("\n") + "\n"
    }

    /// Lines that are there when all conditions hold.
    fn conditional(&self, when: &[When], out: &mut Vec<String>, print: impl FnOnce(&mut Vec<String>)) {
        let condition = |it: &When| {
            let text = self.switches[it.switch];
            if it.on { text.to_owned() } else { format!("not ({text})") }
        };
        let conditions: Vec<String> = when.iter().map(condition).collect();
        match conditions.as_slice() {
            [] => return print(out),
            [only] => out.push(format!("{{{{- if {only} }}}}")),
            several => out.push(format!("{{{{- if and ({}) }}}}", several.join(") ("))),
        }
        print(out);
        out.push("{{- end }}".to_owned());
    }

    /// Children of a map or list, each line of them indented by so much.
    fn tree(&self, tree: &Tree, indent: usize, out: &mut Vec<String>) {
        match tree {
            Tree::Map(children) => {
                for child in children {
                    self.conditional(&child.when, out, |out| self.entry(child, indent, out));
                }
            }
            Tree::List(items) => {
                for item in items {
                    self.conditional(&item.when, out, |out| self.item(&item.tree, indent, out));
                }
            }
            Tree::Leaf(_) | Tree::Template(_) => {}
        }
    }

    fn entry(&self, child: &Child, indent: usize, out: &mut Vec<String>) {
        let space = " ".repeat(indent);
        let key = plain_or_quoted(&child.key);
        match &child.tree {
            Tree::Template(template) => template_lines(template, &key, indent, out),
            Tree::Leaf(value) => out.push(format!("{space}{key}: {}", self.scalar(value))),
            Tree::Map(children) if children.is_empty() => out.push(format!("{space}{key}: {{}}")),
            Tree::List(items) if items.is_empty() => out.push(format!("{space}{key}: []")),
            Tree::Map(_) => {
                out.push(format!("{space}{key}:"));
                self.tree(&child.tree, indent + 2, out);
            }
            Tree::List(_) => {
                out.push(format!("{space}{key}:"));
                self.tree(&child.tree, indent, out);
            }
        }
    }

    fn item(&self, tree: &Tree, indent: usize, out: &mut Vec<String>) {
        let space = " ".repeat(indent);
        match tree {
            Tree::Template(template) => template_lines(template, "", indent, out),
            Tree::Leaf(value) => out.push(format!("{space}- {}", self.scalar(value))),
            Tree::Map(children) if children.is_empty() => out.push(format!("{space}- {{}}")),
            Tree::Map(_) | Tree::List(_) => {
                let mut lines = Vec::new();
                self.tree(tree, indent + 2, &mut lines);
                let first = lines.first().and_then(|it: &String| it.strip_prefix(&format!("{space}  ")));
                match first.map(|it| format!("{space}- {it}")) {
                    Some(first) => lines[0] = first,
                    // A condition comes first: the dash has a line of its own.
                    None => lines.insert(0, format!("{space}-")),
                }
                out.append(&mut lines);
            }
        }
    }

    fn scalar(&self, value: &Value) -> String {
        match value {
            Value::String(text) => self.text(text),
            Value::Number(number) => {
                let stands_for = self.numbers.iter().find(|it| number.as_i64() == Some(it.0));
                stands_for.map_or_else(|| number.to_string(), |it| format!("{{{{ {} }}}}", it.1))
            }
            other => other.to_string(),
        }
    }

    fn text(&self, text: &str) -> String {
        if let Some((_, expression)) = self.texts.iter().find(|it| it.0 == text) {
            return format!("{{{{ {expression} | quote }}}}");
        }
        let mut quoted = plain_or_quoted(text);
        for (stand_in, expression) in &self.texts {
            quoted = quoted.replace(stand_in, &format!("{{{{ {expression} }}}}"));
        }
        quoted
    }
}

fn template_lines(template: &Template, key: &str, indent: usize, out: &mut Vec<String>) {
    let space = " ".repeat(indent);
    match template {
        Template::With { expression, is_scalar } => {
            out.push(format!("{{{{- with {expression} }}}}"));
            if *is_scalar {
                out.push(format!("{space}{key}: {{{{ toYaml . }}}}"));
            } else {
                out.push(format!("{space}{key}:"));
                out.push(format!("{space}  {{{{- toYaml . | nindent {} }}}}", indent + 2));
            }
            out.push("{{- end }}".to_owned());
        }
        Template::Lines(lines) => {
            for line in lines.lines() {
                let space = if line.starts_with("{{-") { "" } else { &*space };
                out.push(format!("{space}{line}"));
            }
        }
    }
}

/// A text as YAML and as a template: plain where nobody could take it for something else, else as JSON writes it.
fn plain_or_quoted(text: &str) -> String {
    let first = |it: char| it.is_ascii_alphabetic() || it == '/';
    let inner = |it: char| it.is_ascii_alphanumeric() || "_./-".contains(it);
    let is_word = text.starts_with(first) && text.chars().all(inner);
    let means_something =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&&*text.to_ascii_lowercase());
    let text = if is_word && !means_something { text.to_owned() } else { Value::from(text).to_string() };
    text.replace("{{", r#"{{ "{{" }}"#)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::tree::join, *};

    #[test]
    fn conditions_stand_around_what_they_are_for() {
        let base = json!([{ "kind": "A", "metadata": { "name": "@name@" }, "count": 7, "list": [{ "b": true }, "x"] }]);
        let mut turned = base.clone();
        turned[0]["list"] = json!([{ "b": true }]);
        turned[0]["more"] = json!("in @name@ {{");
        let Tree::List(objects) = join(&base, &[turned], &[true]).unwrap() else { panic!("not a list") };
        let words = Words {
            switches: vec![".Values.on"],
            texts: vec![("@name@".to_owned(), ".Values.name")],
            numbers: vec![(7, ".Values.n")],
        };
        let wanted = "---\nkind: A\nmetadata:\n  name: {{ .Values.name | quote }}\ncount: {{ .Values.n }}\nlist:\n- b: true\n\
            {{- if .Values.on }}\n- x\n{{- end }}\n\
            {{- if not (.Values.on) }}\nmore: \"in {{ .Values.name }} {{ \"{{\" }}\"\n{{- end }}\n";
        assert_eq!(words.document(&objects[0]), wanted);
    }

    #[test]
    fn words_that_yaml_reads_as_something_else_are_quoted() {
        for (text, wanted) in
            [("a/b-c", "a/b-c"), ("no", "\"no\""), ("", "\"\""), ("1", "\"1\""), ("a: b", "\"a: b\"")]
        {
            assert_eq!(plain_or_quoted(text), wanted);
        }
    }
}
