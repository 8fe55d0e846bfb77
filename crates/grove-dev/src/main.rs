//! Does nothing: only the dependencies of this package count.
//!
//! Cargo compiles a third-party crate again for every set of its features. Which features it has follows from the packages that
//! one command selects, and from whether it builds tests. So the Makefile selects this package, or the whole workspace, whenever it
//! builds for development, and here are the features that otherwise only tests would ask for. What is shipped is built without it
//! (`cargo build --release --package grove`). `xtask features` (a part of `make lint`) compares what Cargo selects.

fn main() {}
