use super::*;

#[test]
fn a_name_that_fits_is_kais() {
    assert_eq!(group_name("job", "1234"), "pg-job-1234");
    assert_eq!(group_name("pod-job", ""), "pg-pod-job-");
    // `pg-`, `-` and the UID of 36 leave 213.
    let (name, uid) = ("n".repeat(213), "u".repeat(36));
    assert_eq!(group_name(&name, &uid), format!("pg-{name}-{uid}"));
}

#[test]
fn a_longer_one_is_shortened_always_alike_and_unlike_others() {
    let (name, uid) = ("n".repeat(214), "u".repeat(36));
    let short = group_name(&name, &uid);
    assert_eq!(short.len(), 253);
    assert!(short.starts_with("pg-nnn"), "{short}");
    assert_eq!(short, group_name(&name, &uid));
    assert_ne!(short, group_name(&name, &"v".repeat(36)));
}

/// FNV-1a of `a` is af63dc4c8601ec8c, as its authors publish it.
#[test]
fn the_hash_is_fnv() {
    assert_eq!(fnv("a"), 0xaf63_dc4c_8601_ec8c);
}

#[test]
fn the_cut_leaves_a_name() {
    // 63 - 17 = 46 characters are left: the dash at the end of them goes too.
    let short = shortened(format!("{}-{}", "s".repeat(45), "t".repeat(40)), 63);
    assert_eq!(short[..46], format!("{}-", "s".repeat(45)));
    assert_eq!(short.len(), 45 + 17);
    // Characters of several bytes are not cut in two.
    assert!(shortened("ä".repeat(60), 63).len() <= 63);
}
