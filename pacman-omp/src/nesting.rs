//! The innermost body that a thread is inside.

/// One word, saved for each body and restored after it: in the lower half the nesting depth, in bodies; in the upper
/// half the actions of the body, see [`Seen`](crate::seen::Seen).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NestingState(u64);

impl NestingState {
    /// The state of a body that begins inside this one.
    #[inline(always)]
    pub(crate) fn inside(self) -> NestingState {
        NestingState(u64::from(self.depth() + 1))
    }

    #[inline(always)]
    pub(crate) fn depth(self) -> u32 {
        self.0 as u32
    }

    /// The actions of the body.
    #[inline(always)]
    pub(crate) fn seen(self) -> u32 {
        (self.0 >> u32::BITS) as u32
    }

    /// Adds actions of the body.
    #[inline(always)]
    pub(crate) fn and_seen(self, bits: u32) -> NestingState {
        NestingState(self.0 | u64::from(bits) << u32::BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::NestingState;

    #[test]
    fn the_parts_of_the_word_are_independent() {
        let outer = NestingState::default().inside().and_seen(0x8000_0001);
        let word = outer.and_seen(0x02);
        assert_eq!((word.depth(), word.seen()), (1, 0x8000_0003));
        assert_eq!(word.inside(), NestingState::default().inside().inside());
    }
}
