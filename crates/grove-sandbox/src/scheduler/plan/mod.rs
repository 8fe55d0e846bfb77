//! The decisions, pure: which unit is next, where its pods go, who makes room, and what is said where nothing does.

pub(super) mod attempt;
pub(super) mod needs;
pub(super) mod order;
mod preferred;
mod relax;
#[cfg(test)]
mod tests;
pub(super) mod unit;
pub(super) mod victims;
pub(super) mod words;
