//! Pods of one role, cut into segments: neighbours that are placed near each other.

use serde_json::Value;

use crate::{
    group::Topology,
    plugin::Refused,
    sub_groups,
    topology_annotations::{NAME, complete, said},
};

/// Annotation with the number of pods in a segment.
pub(crate) const SIZE: &str = "kai.scheduler/segment-size";
const REQUIRED: &str = "kai.scheduler/segment-topology-required-placement";
const PREFERRED: &str = "kai.scheduler/segment-topology-preferred-placement";

/// How many pods each segment has: all the same, the last one what is left.
pub(crate) fn sizes(pods: u32, size: u32) -> Result<Vec<u32>, Refused> {
    let size = size.max(1);
    let segments = pods.div_ceil(size);
    if segments > sub_groups::MOST {
        return Err(Refused(format!(
            "a segment size of {size} cuts {pods} pods into {segments} segments, more than {}: set a larger \
             size, in annotation {SIZE} or in the workload's own field",
            sub_groups::MOST
        )));
    }
    Ok((0..segments).map(|it| size.min(pods - it * size)).collect())
}

/// Where each segment goes: the pod says it, else its template; the topology may be named by the workload too.
pub(crate) fn topology(pod: &Value, template: &Value, workload: &Value) -> Option<Topology> {
    let said = |key: &str| said(pod, key).or_else(|| said(template, key));
    complete(
        said(NAME).or_else(|| crate::topology_annotations::said(workload, NAME)),
        said(REQUIRED),
        said(PREFERRED),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_segment_gets_what_is_left() {
        let table: [(u32, u32, &[u32]); 6] = [
            (4, 2, &[2, 2]),
            (5, 2, &[2, 2, 1]),
            (2, 3, &[2]),
            (0, 2, &[]),
            (1, 1, &[1]),
            (3, 2_147_483_647, &[3]),
        ];
        for (pods, size, expected) in table {
            assert_eq!(sizes(pods, size).as_deref(), Ok(expected), "{pods} by {size}");
        }
    }

    #[test]
    fn there_are_at_most_ten_thousand() {
        assert_eq!(sizes(10_000, 1).map(|it| it.len()), Ok(10_000));
        assert_eq!(sizes(2_147_483_647, 214_749).map(|it| it.len()), Ok(10_000));
        let refused = sizes(10_001, 1).expect_err("too many");
        assert!(
            refused.0.starts_with("a segment size of 1 cuts 10001 pods into 10001 segments"),
            "{refused}"
        );
        assert!(sizes(u32::MAX, 1).is_err());
    }
}
