//! What is built, and with which features.

use anyhow::{Result, bail};

/// A program that is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `grove` as it runs in a cluster: without the simulated one.
    Operator,
    /// The init container of pods that start in order.
    Initc,
    /// `grove` as people run it: with `grove up` and `grove tour`. It has no image.
    CommandLine,
}

impl Program {
    /// Those that have an image.
    pub const IMAGES: [Self; 2] = [Self::Operator, Self::Initc];

    /// Finds the program of an image by the name of the image.
    pub fn of_image(name: &str) -> Result<Self> {
        match Self::IMAGES.into_iter().find(|it| it.binary() == name) {
            Some(it) => Ok(it),
            None => bail!("there is no image {name:?}: give grove or grove-initc"),
        }
    }

    /// Name of the package, of the program, and of the image if there is one.
    pub const fn binary(self) -> &'static str {
        match self {
            Self::Operator | Self::CommandLine => "grove",
            Self::Initc => "grove-initc",
        }
    }

    /// What the image's name adds to the one that was given for the operator's image.
    pub const fn image_suffix(self) -> &'static str {
        match self {
            Self::Operator | Self::CommandLine => "",
            Self::Initc => "-initc",
        }
    }

    /// Cargo's profile.
    pub const fn profile(self) -> &'static str {
        match self {
            Self::Operator | Self::CommandLine => "dist",
            Self::Initc => "initc",
        }
    }

    /// What selects the package and its features, for `cargo build` and `cargo tree` alike.
    pub const fn selection(self) -> &'static [&'static str] {
        match self {
            Self::Operator => &["--package", "grove", "--no-default-features"],
            Self::Initc => &["--package", "grove-initc"],
            Self::CommandLine => &["--package", "grove"],
        }
    }

    /// Title of the image.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Operator | Self::CommandLine => "Grove",
            Self::Initc => "Grove init container",
        }
    }

    /// Description of the image.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Operator | Self::CommandLine => {
                "Kubernetes operator for AI workloads made of many cooperating pods, and its pod grouper"
            }
            Self::Initc => "Holds a pod back until the roles that it starts after are ready",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_found_by_name() {
        assert_eq!(Program::of_image("grove-initc").unwrap(), Program::Initc);
        assert_eq!(Program::of_image("grove").unwrap(), Program::Operator);
        let error = Program::of_image("grove-e2e").unwrap_err().to_string();
        assert_eq!(error, "there is no image \"grove-e2e\": give grove or grove-initc");
    }
}
