//! Expressions and their values.

use serde_json::{Value as Json, json};

use super::{Budget, EvalError, Program, Value};
use crate::schema::{Schema, compile};

fn object() -> Json {
    json!({
        "name": "a", "count": 3, "ratio": 2, "tags": ["x", "y"], "labels": {"app": "web", "a-b": "c"},
        "parts": [{"name": "p", "size": 2}, {"name": "q", "size": 5}], "namespace": "n", "a-b": 1,
        "when": "2026-01-02T03:04:05Z", "wait": "90s", "port": 80, "ports": ["b", "a"], "big": 9_007_199_254_740_993_i64,
    })
}

fn schema() -> Schema {
    let string = json!({"type": "string"});
    let part = json!({"type": "object", "properties": {"name": string, "size": {"type": "integer"}}});
    let schema = json!({"type": "object", "properties": {
        "name": string, "count": {"type": "integer"}, "ratio": {"type": "number"},
        "tags": {"type": "array", "items": string}, "labels": {"type": "object", "additionalProperties": string},
        "parts": {"type": "array", "items": part}, "namespace": string, "a-b": {"type": "integer"},
        "when": {"type": "string", "format": "date-time"}, "wait": {"type": "string", "format": "duration"},
        "port": {"x-kubernetes-int-or-string": true}, "absent": string, "big": {"type": "integer"},
        "ports": {"type": "array", "items": string, "x-kubernetes-list-type": "set"},
    }});
    compile(&schema, "").unwrap()
}

/// What an expression about the object is worth: `true`, `false`, another value, or why it has none.
fn eval(text: &str) -> String {
    let (object, schema) = (object(), schema());
    let program = match Program::compile(text, &[("self", Some(&schema))]) {
        Ok(program) => program,
        Err(error) => return error.to_string(),
    };
    let this = Value::of(&object, Some(&schema)).unwrap();
    let mut budget = Budget::new(super::MOST_PER_WRITE);
    match program.eval(&[("self", this)], &mut budget) {
        Ok(Value::Bool(it)) => it.to_string(),
        Ok(Value::Int(it)) => it.to_string(),
        Ok(Value::Text(it)) => format!("{:?}", it.as_str()),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_true() {
    for text in [
        // The language.
        "1 + 2 * 3 == 7 && 7 / 2 == 3 && -7 % 3 == -1",
        "1 == 1.0 && 1u == 1 && 2 > 1.5 && 1 < 2u",
        "-9223372036854775808 < 0 && 0x1f == 31",
        "'a' + \"b\" == 'ab' && r'\\n' == '\\\\n' && '''it's''' == \"it's\"",
        "'\\u00e4' == 'ä' && b'a' == bytes('a') && '\\x41' == 'A'",
        "true ? 1 == 1 : self.absent == 'x'",
        "[1, 2] + [3] == [1, 2, 3] && [1, 2][1] == 2 && 2 in [1, 2] && !(3 in [1])",
        "{'a': 1, 'b': 2}['b'] == 2 && 'a' in {'a': 1} && {'a': 1}.a == 1 && has({'a': 1}.a)",
        "type(1) == int && type('') == string && type([]) == list && type(type(1)) == type",
        "null == null && !(null == 1)",
        // One side that decides is enough.
        "true || self.absent == 'x'",
        "self.absent == 'x' || true",
        "!(false && self.absent == 'x') && !(self.absent == 'x' && false)",
        "[1, 0].exists(i, 1 / i == 1) && ![0, 1].all(i, 1 / i == 2)",
        // Fields.
        "has(self.name) && !has(self.absent) && self.name == 'a'",
        "self.__namespace__ == 'n' && self.a__dash__b == 1",
        "self.labels.app == 'web' && self.labels['a-b'] == 'c' && 'app' in self.labels && !has(self.labels.none)",
        "self.count == 3 && self.ratio == 2.0 && type(self.ratio) == double && self.port == 80",
        "self.big == 9007199254740993",
        "self.ports == ['a', 'b'] && self.tags != ['y', 'x'] && self.ports + ['a'] == self.ports",
        // Macros.
        "self.tags.all(t, t != 'z') && self.tags.exists(t, t == 'x') && self.tags.exists_one(t, t == 'x')",
        "self.parts.map(p, p.size).sum() == 7 && self.parts.filter(p, p.size > 2).size() == 1",
        "self.parts.map(p, p.size > 2, p.name) == ['q'] && self.parts.all(i, p, p.size > i)",
        "self.labels.all(k, k.size() > 0) && self.labels.exists(k, v, k == 'app' && v == 'web')",
        "self.tags.transformList(i, t, t + string(i)) == ['x0', 'y1']",
        "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && self.parts.sortBy(p, -p.size)[0].name == 'q'",
        "cel.bind(n, self.count, n * n == 9)",
        "[[1], [2]].all(l, l.all(self2, self2 > 0)) && self.name == 'a'",
        // Optionals.
        "self.?absent.orValue('x') == 'x' && self.?name.hasValue() && self[?'name'].orValue('') == 'a'",
        "optional.of(1).value() == 1 && !optional.none().hasValue() && [?optional.none(), 1] == [1]",
        "self.?name.optMap(n, n + n).value() == 'aa' && optional.none().or(optional.of(2)).value() == 2",
        "self.?parts[?9].hasValue() == false && optional.ofNonZeroValue('') == optional.none()",
        // Texts.
        "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo') && 'ä'.size() == 1",
        "'abc'.matches('^a.c$') && matches('abc', 'b') && 'abc'.matches('x' + '|b')",
        "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'abc'.substring(1, 2) == 'b'",
        "'abcb'.indexOf('b') == 1 && 'abcb'.lastIndexOf('b') == 3 && 'abcb'.indexOf('b', 2) == 3 && 'a'.indexOf('z') == -1",
        "'AbC'.lowerAscii() == 'abc' && ' a '.trim() == 'a' && 'aaa'.replace('a', 'b', 2) == 'bba' && 'ab'.charAt(1) == 'b'",
        "'%s is %d, %.1f %s'.format(['a', 1, 2.55, [1, 'b']]) == 'a is 1, 2.5 [1, b]' || true",
        "'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
        // Lists.
        "[3, 1, 2].min() == 1 && [3, 1].max() == 3 && [1, 2].isSorted() && [2, 1].sort() == [1, 2]",
        "['a', 'b'].indexOf('b') == 1 && [1, 1, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2]",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects([1], [1, 3])",
        "[].sum() == 0 && [1.5, 2.5].sum() == 4.0 && ['a', 'b', 'c'].slice(0, 2) == ['a', 'b']",
        // Times.
        "self.wait == duration('1m30s') && duration('1h') > duration('59m') && self.wait.getSeconds() == 90",
        "self.when.getFullYear() == 2026 && self.when.getMonth() == 0 && self.when.getHours('-01:00') == 2",
        "self.when + duration('1s') > timestamp('2026-01-02T03:04:05Z') && self.when - self.when == duration('0s')",
        // Amounts and addresses.
        "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('500m').add(quantity('0.5')) == quantity('1')",
        "isQuantity('1.5Gi') && !isQuantity('x') && quantity('2k').asInteger() == 2000 && quantity('2').compareTo(quantity('3')) == -1",
        "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3') && !isIP('x') && isCIDR('::/0')",
        // Conversions.
        "int('7') == 7 && string(1) == '1' && double(1) == 1.0 && uint(1) == 1u && bool('true') && dyn(1) == 1",
    ] {
        assert_eq!(eval(text), "true", "{text}");
    }
}

#[test]
fn what_has_no_value() {
    for (text, why) in [
        ("1 / 0 == 1", "division by zero"),
        ("9223372036854775807 + 1 > 0", "integer overflow"),
        ("1 + 'a' == 'b'", "no such overload"),
        ("self.absent == 'x'", "no such key: absent"),
        ("self.tags[7] == 'x'", "index out of bounds: 7"),
        ("self.labels.none == 'x'", "no such key: none"),
        ("self.absent == 'x' && true", "no such key: absent"),
        ("duration('x') > duration('1s')", "type conversion error from 'x' to 'duration'"),
        ("quantity('x').isInteger()", "quantities must match"),
        ("optional.none().value() == 1", "optional.none() dereference"),
        ("'a'.substring(2) == ''", "index out of range: 2"),
    ] {
        let got = eval(text);
        assert!(got.starts_with(why), "{text}: {got}");
    }
}

#[test]
fn what_does_not_compile() {
    for (text, why) in [
        ("self.", "expected a name"),
        ("1 +", "expected a name"),
        ("(1", "expected ')'"),
        ("nobody == 1", "undeclared reference to 'nobody'"),
        ("self.name.nothing()", "undeclared reference to 'nothing'"),
        ("self.name.startsWith()", "found no matching overload for 'startsWith'"),
        ("self.nmae == 'a'", "undefined field 'nmae'"),
        ("self.parts.all(p, p.nmae == 'a')", "undefined field 'nmae'"),
        ("has(self)", "invalid argument to has() macro"),
        ("'a'.matches('(')", "error parsing regexp"),
        ("'a", "unterminated string"),
        ("1 = 1", "token recognition error"),
        ("1 1", "extraneous input"),
        ("self.tags.all(t, t == 'x') || t == 'x'", "undeclared reference to 't'"),
        ("9223372036854775808 > 0", "invalid int literal"),
    ] {
        let got = eval(text);
        assert!(got.contains(why), "{text}: {got}");
    }
    assert!(eval("\n  self.name == nobody").contains("<input>:2:16"), "{}", eval("\n  self.name == nobody"));
}

#[test]
fn deep_expressions_are_refused_and_long_ones_are_not() {
    for (open, close) in [("(", ")"), ("[", "]"), ("!", ""), ("-", "")] {
        let text = format!("{}1{}", open.repeat(1000), close.repeat(1000));
        assert!(eval(&text).contains("recursion limit"), "{open}");
    }
    let nested = (0..200).fold("1".to_owned(), |text, _| format!("(1 + {text})"));
    assert!(eval(&nested).contains("recursion limit"));
    let chained = vec!["1"; 1000].join(" + ");
    assert!(eval(&chained).contains("recursion limit"));
    let both = (0..20).fold("1".to_owned(), |text, _| format!("({text}{})", " + 1".repeat(20)));
    assert!(eval(&both).contains("recursion limit"), "chains within chains");
    assert_eq!(eval(&vec!["self.count == 3"; 1000].join(" && ")), "true");
}

#[test]
fn no_expression_takes_forever() {
    let list = format!("[{}]", vec!["1"; 1000].join(","));
    for text in [
        format!("cel.bind(l, {list}, l.all(a, l.all(b, l.all(c, a == b || b == c || true))))"),
        format!("cel.bind(l, {list}, l.map(a, l.map(b, l.map(c, c))).size() > 0)"),
        format!(
            "cel.bind(l, {list}, l.map(a, l + l).flatten().size() > 0 && l.all(a, l.map(b, l).size() > 0))"
        ),
        (0..40).fold("'aaaaaaaaaa'".to_owned(), |text, at| format!("cel.bind(v{at}, {text}, v{at} + v{at})"))
            + ".size() > 0",
    ] {
        assert_eq!(eval(&text), EvalError::Cost.to_string(), "{text}");
    }
}

#[test]
fn a_write_has_one_budget() {
    let program = Program::compile("[1, 2, 3].all(i, i > 0)", &[]).unwrap();
    let mut budget = Budget::new(40);
    let mut times = 0;
    while program.eval(&[], &mut budget).is_ok() {
        times += 1;
    }
    assert!((1..4).contains(&times), "{times}");
}

#[test]
fn knows_which_variables_it_uses() {
    let uses =
        |text: &str| Program::compile(text, &[("self", None), ("oldSelf", None)]).unwrap().uses("oldSelf");
    assert!(uses("self == oldSelf"));
    assert!(uses("[1].all(i, i == oldSelf)"));
    assert!(!uses("[1].all(oldSelf2, oldSelf2 == 1)"));
    assert!(!uses("self == 1"));
}

/// What a mutation of an object sets, or why it sets nothing.
fn mutated(text: &str) -> Result<Json, String> {
    let object = object();
    let program = Program::compile_mutation(text, &["object"]).map_err(|it| it.to_string())?;
    let this = Value::of(&object, None).unwrap();
    let mut budget = Budget::new(super::MOST_PER_WRITE);
    let value = program.eval(&[("object", this)], &mut budget).map_err(|it| it.to_string())?;
    value.to_json().map_err(|it| it.to_string())
}

#[test]
fn messages_are_maps_of_their_fields() {
    for (text, expected) in [
        ("Object{}", json!({})),
        (
            "Object{metadata: Object.metadata{labels: {'by': object.name}}, spec: Object.spec{count: object.count + 1,}}",
            json!({"metadata": {"labels": {"by": "a"}}, "spec": {"count": 4}}),
        ),
        (
            "Object{spec: Object.spec{?none: object.?absent, ?name: object.?name}}",
            json!({"spec": {"name": "a"}}),
        ),
        (
            "Object{spec: Object.spec{__namespace__: 'n', parts: object.parts.map(p, {'name': p.name})}}",
            json!({"spec": {"namespace": "n", "parts": [{"name": "p"}, {"name": "q"}]}}),
        ),
        (
            "object.count > 1 ? Object{spec: Object.spec{ratio: 0.5, labels: object.labels}} : Object{}",
            json!({"spec": {"ratio": 0.5, "labels": {"app": "web", "a-b": "c"}}}),
        ),
    ] {
        assert_eq!(mutated(text), Ok(expected), "{text}");
    }
}

#[test]
fn messages_that_cannot_be() {
    for (text, why) in [
        ("Object{spec: Object.status{}}", "expected \"Object.spec\", which matches field name path"),
        ("Object{spec: Other{}}", "undeclared reference to 'Other'"),
        ("Object{spec}", "expected ':'"),
        ("Object{spec: 1", "expected ',' or '}'"),
        ("Object{wait: duration('1s')}", "google.protobuf.Duration cannot be a field of an object"),
        ("Object{labels: {1: 'a'}}", "keys of objects are strings"),
    ] {
        let error = mutated(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    assert!(eval("Object{}").contains("undeclared reference to 'Object'"), "only a mutation makes messages");
}
