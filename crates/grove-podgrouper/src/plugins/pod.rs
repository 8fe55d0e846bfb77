//! Pods that nobody owns, and those of Spark: its driver owns the executors, and all of them are one group.

use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    metadata::label,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

const SPARK_NAME: &str = "spark-app-name";
const SPARK_SELECTOR: &str = "spark-app-selector";

/// The plugin of pods.
#[derive(Debug)]
pub(crate) struct PodPlugin;

impl Plugin for PodPlugin {
    fn name(&self) -> &'static str {
        "Pod"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let group = default_group(workload, settings, TRAIN);
        let of_pod = |key: &str| label(workload.pod, key);
        let (Some(_), Some(selector)) = (of_pod(SPARK_NAME), of_pod(SPARK_SELECTOR)) else {
            return Ok(Some(group));
        };
        if !is_name(selector) {
            return Err(Refused(format!(
                "label {SPARK_SELECTOR}: {selector:?} becomes the name of a PodGroup, and must have only lower-case \
                letters, digits, dots and dashes, with a letter or digit at both ends"
            )));
        }
        Ok(Some(Group { name: selector.to_owned(), ..group }))
    }

    fn reads_spec(&self) -> bool {
        false
    }
}

/// Whether objects may be called so. Labels may have more characters.
fn is_name(text: &str) -> bool {
    let of_word = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let is_part = |part: &str| match part.as_bytes() {
        [only] => of_word(*only),
        [first, inner @ .., last] => {
            of_word(*first) && of_word(*last) && inner.iter().all(|it| of_word(*it) || *it == b'-')
        }
        [] => false,
    };
    text.split('.').all(is_part)
}
