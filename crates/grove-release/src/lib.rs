//! What is shipped: programs, images and the folder of a release, byte for byte the same from the same commit.
//!
//! In the order in which a release is made: [`program`] says what is built and how, [`toolchain`] what this machine lacks for it,
//! [`compile`] runs Cargo, [`image`] puts a program into an OCI image layout, [`push`] sends a layout to a registry, [`sbom`] says
//! what a program is made of, [`chart`] and [`changelog`] add what else belongs to a release, and [`folder`] writes the checksums.
//! No container engine is needed.

pub mod architecture;
pub mod changelog;
pub mod chart;
pub mod compile;
pub mod folder;
pub mod image;
pub mod leaks;
pub mod program;
pub mod push;
pub mod sbom;
pub mod sha256;
pub mod source;
pub mod toolchain;
