fn main() {
    for c in &grove_api::schema::CRDS {
        std::fs::write(
            format!("/tmp/crds/{}", c.file_name().replace(".yaml", ".json")),
            serde_json::to_string_pretty(&c.to_value()).unwrap(),
        )
        .unwrap();
    }
}
