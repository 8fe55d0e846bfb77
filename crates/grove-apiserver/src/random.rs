//! The randomness of the server: uids and the endings of generated names. Seeded, so that runs can be repeated.

/// What generated names end in: no vowels, so no words; no digits that look like letters.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// A generator of 64 random bits (SplitMix64): one word of state, good enough for names.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A uid in the form of a version 4 UUID.
    pub(crate) fn uid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            ((low >> 48) & 0x3fff) | 0x8000,
            low & 0xffff_ffff_ffff,
        )
    }

    /// The five characters that `generateName` ends in.
    pub(crate) fn suffix(&mut self) -> String {
        let mut bits = self.next();
        let length = ALPHABET.len() as u64;
        (0..5)
            .map(|_| {
                let index = usize::try_from(bits % length).unwrap_or(0);
                bits /= length;
                char::from(ALPHABET[index])
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_names() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        for _ in 0..100 {
            assert_eq!(one.uid(), two.uid());
            assert_eq!(one.suffix(), two.suffix());
        }
        assert_ne!(one.uid(), Random::new(8).uid());
    }

    #[test]
    fn uids_and_suffixes_have_their_form() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            let uid = random.uid();
            let parts: Vec<usize> = uid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{uid}");
            assert_eq!(uid.as_bytes()[14], b'4', "{uid}");
            assert!(matches!(uid.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{uid}");
            let suffix = random.suffix();
            assert_eq!(suffix.len(), 5);
            assert!(suffix.bytes().all(|it| ALPHABET.contains(&it)), "{suffix}");
        }
    }
}
