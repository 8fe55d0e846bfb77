//! What is shipped: programs, images and the folder of a release, byte for byte the same from the same commit.
//!
//! In the order in which a release is made: [`program`] says what is built and how, [`toolchain`] what this machine lacks for it,
//! [`compile`] runs Cargo, [`image`] puts a program into an OCI image layout, [`push`] sends a layout to a registry, and [`folder`]
//! writes the checksums. No container engine is needed.

pub mod architecture;
pub mod compile;
pub mod folder;
pub mod image;
pub mod leaks;
pub mod program;
pub mod push;
pub mod sha256;
pub mod source;
pub mod toolchain;
