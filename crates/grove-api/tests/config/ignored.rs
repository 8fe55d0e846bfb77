//! Settings that are accepted and have no effect yet.

use super::loaded;

#[test]
fn every_setting_without_effect_is_named() {
    let warned =
        |body: &str| -> Vec<String> { loaded(body).warnings.iter().map(ToString::to_string).collect() };
    // What is asked for happens anyway, or is not asked for.
    assert_eq!(warned("runtimeClientConnection: { contentType: application/json }"), [""; 0]);
    assert_eq!(warned("debugging: { pprofBindPort: 2753 }, network: { autoMNNVLEnabled: false }"), [""; 0]);
    assert_eq!(
        warned(
            "runtimeClientConnection: { contentType: application/vnd.kubernetes.protobuf }, \
             debugging: { enableProfiling: true, pprofBindHost: 0.0.0.0, pprofBindPort: 6060 }, network: { autoMNNVLEnabled: true }"
        ),
        [
            "runtimeClientConnection.contentType: accepted but not implemented: the operator always speaks JSON",
            "debugging.enableProfiling: accepted but not implemented: no profiles are served",
            "debugging.pprofBindHost: accepted but not implemented: no profiles are served",
            "debugging.pprofBindPort: accepted but not implemented: no profiles are served",
            "network.autoMNNVLEnabled: accepted but not implemented: no ComputeDomains are created",
        ]
    );
}
