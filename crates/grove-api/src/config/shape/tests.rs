//! One row for each rule, on both sides of it.

use serde_json::json;

use super::*;
use crate::field::ErrorKind;

const PORT: Shape = Shape::Integer { min: 1, max: 65_535 };

#[test]
fn leaves_are_what_their_shape_wants() {
    use ErrorKind::{Invalid, NotSupported, TypeInvalid};
    let level = Shape::OneOf(&["debug", "info"]);
    let cases = [
        (Shape::Bool, json!(true), Ok(json!(true))),
        (Shape::Bool, json!("true"), Err(TypeInvalid)),
        (PORT, json!(1), Ok(json!(1))),
        (PORT, json!(65535), Ok(json!(65535))),
        (PORT, json!(0), Err(Invalid)),
        (PORT, json!(65536), Err(Invalid)),
        (PORT, json!(u64::MAX), Err(Invalid)),
        (PORT, json!(1e300), Err(Invalid)),
        (PORT, json!(i64::MIN), Err(Invalid)),
        (PORT, json!(1e3), Ok(json!(1000))),
        (PORT, json!(1.5), Err(TypeInvalid)),
        (PORT, json!("80"), Err(TypeInvalid)),
        (Shape::Positive, json!(0.5), Ok(json!(0.5))),
        (Shape::Positive, json!(7), Ok(json!(7))),
        (Shape::Positive, json!(0), Err(Invalid)),
        (Shape::Positive, json!(-1.0), Err(Invalid)),
        (Shape::Positive, json!("1"), Err(TypeInvalid)),
        (Shape::Text, json!("any thing"), Ok(json!("any thing"))),
        (Shape::Text, json!(5), Err(TypeInvalid)),
        (Shape::Name, json!("a-1.b"), Ok(json!("a-1.b"))),
        (Shape::Name, json!("A"), Err(Invalid)),
        (Shape::Name, json!("-a"), Err(Invalid)),
        (Shape::Name, json!("a..b"), Err(Invalid)),
        (Shape::Name, json!("a".repeat(254)), Err(Invalid)),
        (Shape::Host, json!("::"), Ok(json!("::"))),
        (Shape::Host, json!("localhost"), Ok(json!("localhost"))),
        (Shape::Host, json!("127.0.0.1:80"), Err(Invalid)),
        (Shape::Duration, json!("1m30s"), Ok(json!("1m30s"))),
        (Shape::Duration, json!("-1s"), Ok(json!("-1s"))),
        (Shape::Duration, json!(""), Err(Invalid)),
        (Shape::Duration, json!("15"), Err(Invalid)),
        (Shape::Duration, json!(15), Err(TypeInvalid)),
        (level, json!("info"), Ok(json!("info"))),
        (level, json!("Info"), Err(NotSupported)),
        (level, json!(3), Err(TypeInvalid)),
        (Shape::AnyObject, json!({ "x": [] }), Ok(json!({ "x": [] }))),
        (Shape::AnyObject, json!([]), Err(TypeInvalid)),
        (Shape::Object(&[]), json!([]), Err(TypeInvalid)),
        (Shape::List(&Shape::Text), json!({}), Err(TypeInvalid)),
    ];
    for (shape, value, want) in cases {
        assert_eq!(
            leaf(&value, &shape, &Path::root()).map_err(|error| error.kind),
            want,
            "{shape:?} {value}"
        );
    }
}
