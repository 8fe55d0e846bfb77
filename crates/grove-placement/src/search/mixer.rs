//! A hash of 128 bits that is the same on every machine and in every run.

/// Takes numbers one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mixer(u64, u64);

impl Mixer {
    pub(crate) fn new(tag: u64) -> Self {
        Self(mix(tag ^ 0x9e37_79b9_7f4a_7c15), mix(tag ^ 0xc2b2_ae3d_27d4_eb4f))
    }

    #[must_use]
    pub(crate) fn add(self, value: u64) -> Self {
        Self(mix(self.0 ^ value), mix(self.1.wrapping_add(value).rotate_left(29)))
    }

    #[must_use]
    pub(crate) fn add_wide(self, value: u128) -> Self {
        // Both halves, one after the other.
        let bytes = value.to_le_bytes();
        let (low, high) = bytes.split_at(8);
        let half = |part: &[u8]| part.iter().rev().fold(0_u64, |sum, it| (sum << 8) | u64::from(*it));
        self.add(half(low)).add(half(high))
    }

    pub(crate) fn finish(self) -> u128 {
        (u128::from(self.0) << 64) | u128::from(self.1)
    }
}

/// The finalizer of splitmix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
