//! Settings that are accepted and have no effect yet.

use super::loaded;

#[test]
fn every_setting_without_effect_is_named() {
    let warned =
        |body: &str| -> Vec<String> { loaded(body).warnings.iter().map(ToString::to_string).collect() };
    // What is asked for happens anyway, or is not asked for.
    assert_eq!(warned("runtimeClientConnection: { contentType: application/json }"), [""; 0]);
    assert_eq!(warned("network: { autoMNNVLEnabled: false }"), [""; 0]);
    assert_eq!(
        warned("debugging: { enableProfiling: true, pprofBindHost: 0.0.0.0, pprofBindPort: 6060 }"),
        [""; 0]
    );
    assert_eq!(
        warned(
            "runtimeClientConnection: { contentType: application/vnd.kubernetes.protobuf }, \
             network: { autoMNNVLEnabled: true }"
        ),
        [
            "runtimeClientConnection.contentType: accepted but not implemented: the operator always speaks JSON",
            "network.autoMNNVLEnabled: accepted but not implemented: no ComputeDomains are created",
        ]
    );
}
