//! Grove on the command line.
fn main() {}
