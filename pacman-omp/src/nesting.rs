//! What is known of the innermost body that a thread is inside of.

use crate::seen::Seen;

/// One word, which is put aside for each body and put back after it. From its lowest bit on:
///
/// - 32 bits: how many bodies the thread is inside of;
/// - 16 bits: what it was seen to do, see [`Seen`];
/// - 16 bits: how much more often it asked for its number than how many threads there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NestingState(u64);

const SEEN: u32 = 32;
const UNPAIRED: u32 = 48;

impl NestingState {
    /// The body that begins inside of this one.
    #[inline(always)]
    pub(crate) fn inside(self) -> NestingState {
        NestingState(u64::from(self.depth() + 1))
    }

    /// How many bodies the thread is inside of.
    #[inline(always)]
    pub(crate) fn depth(self) -> u32 {
        self.0 as u32
    }

    /// What the body was seen to do.
    #[inline(always)]
    pub(crate) fn seen(self) -> u32 {
        u32::from((self.0 >> SEEN) as u16)
    }

    /// It was seen to do this as well.
    #[inline(always)]
    pub(crate) fn and_seen(self, bits: u32) -> NestingState {
        const { assert!(Seen::ALL <= 0xffff) };
        NestingState(self.0 | u64::from(bits) << SEEN)
    }

    /// How much more often the body asked for its number than how many threads there are.
    #[inline(always)]
    pub(crate) fn unpaired(self) -> i16 {
        (self.0 >> UNPAIRED) as i16
    }

    /// It has asked for its number (1), or for how many there are (-1).
    #[inline(always)]
    pub(crate) fn and_asked(self, which: i16) -> NestingState {
        // Whoever has asked for one of them alone so often is known for it.
        let unpaired = self.unpaired().saturating_add(which);
        NestingState(self.0 & !(0xffff << UNPAIRED) | u64::from(unpaired as u16) << UNPAIRED)
    }
}

#[cfg(test)]
mod tests {
    use super::NestingState;

    #[test]
    fn each_part_of_the_word_is_by_itself() {
        let outer = NestingState::default().inside().and_seen(0x81).and_asked(-1).and_asked(-1);
        let word = outer.and_seen(0x02).and_asked(-1);
        assert_eq!((word.depth(), word.seen(), word.unpaired()), (1, 0x83, -3));
        assert_eq!(word.and_asked(1).and_asked(1).and_asked(1).unpaired(), 0);
        assert_eq!(word.inside(), NestingState::default().inside().inside());
        let asks_on = (0..70_000).fold(word, |word, _| word.and_asked(-1));
        assert_eq!((asks_on.depth(), asks_on.seen(), asks_on.unpaired()), (1, 0x83, i16::MIN));
    }
}
