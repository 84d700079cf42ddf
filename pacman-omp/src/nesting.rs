//! The innermost body that a thread is inside.

use crate::seen::Seen;

/// One word, saved for each body and restored after it. From the lowest bit on:
///
/// - 32 bits: the nesting depth, in bodies;
/// - 16 bits: the actions of the body, see [`Seen`];
/// - 16 bits: how often the body asked for its thread's number, minus how often it asked for the size of
///   the team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NestingState(u64);

const SEEN: u32 = 32;
const UNPAIRED: u32 = 48;

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

    /// The actions of the body, in bits of [`Seen`].
    #[inline(always)]
    pub(crate) fn seen(self) -> u32 {
        u32::from((self.0 >> SEEN) as u16)
    }

    /// Adds actions of the body.
    #[inline(always)]
    pub(crate) fn and_seen(self, bits: u32) -> NestingState {
        const { assert!(Seen::ALL <= 0xffff) };
        NestingState(self.0 | u64::from(bits) << SEEN)
    }

    /// Questions for the thread's number, minus questions for the size of the team.
    #[inline(always)]
    pub(crate) fn unpaired(self) -> i16 {
        (self.0 >> UNPAIRED) as i16
    }

    /// Counts a question for the thread's number (1) or the size of the team (-1).
    #[inline(always)]
    pub(crate) fn and_asked(self, which: i16) -> NestingState {
        // A body that asked for only one of them that often is known for it.
        let unpaired = self.unpaired().saturating_add(which);
        NestingState(self.0 & !(0xffff << UNPAIRED) | u64::from(unpaired as u16) << UNPAIRED)
    }
}

#[cfg(test)]
mod tests {
    use super::NestingState;

    #[test]
    fn the_parts_of_the_word_are_independent() {
        let outer = NestingState::default().inside().and_seen(0x81).and_asked(-1).and_asked(-1);
        let word = outer.and_seen(0x02).and_asked(-1);
        assert_eq!((word.depth(), word.seen(), word.unpaired()), (1, 0x83, -3));
        assert_eq!(word.and_asked(1).and_asked(1).and_asked(1).unpaired(), 0);
        assert_eq!(word.inside(), NestingState::default().inside().inside());
        let asks_on = (0..70_000).fold(word, |word, _| word.and_asked(-1));
        assert_eq!((asks_on.depth(), asks_on.seen(), asks_on.unpaired()), (1, 0x83, i16::MIN));
    }
}
