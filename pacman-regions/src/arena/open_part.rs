//! The word of a row that says since when a part is open.

/// The unit of a part's begin: 0.1 µs or less.
const OPEN_UNIT: u64 = 256;

/// A part that is open as long as the row has this number of executions, and began `since` ticks after the start of
/// the process. The end of the part changes the number, and needs no store of its own.
pub(super) fn open_part(since: u64, executions: u64) -> u64 {
    (since / OPEN_UNIT + 1) << 16 | mark_of(executions)
}

/// Sixteen bits by which numbers of executions differ.
fn mark_of(executions: u64) -> u64 {
    executions.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48
}

/// The begin of the part that is open in a row with that many executions, in ticks after the start of the process.
pub(super) fn open_since(open: u64, executions: u64) -> Option<u64> {
    let since = (open >> 16).checked_sub(1)?;
    (open & 0xffff == mark_of(executions)).then(|| since.saturating_mul(OPEN_UNIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_open_until_the_next_execution() {
        assert_eq!(open_since(0, 0), None, "none began");
        for executions in [0, 1, 7, 1 << 20] {
            let open = open_part(5_000, executions);
            assert_eq!(open_since(open, executions), Some(5_000 / OPEN_UNIT * OPEN_UNIT));
            assert_eq!(open_since(open_part(0, executions), executions), Some(0));
            for weight in [1, 2, 100, 1 << 16] {
                assert_eq!(open_since(open, executions + weight), None, "it has ended");
            }
        }
    }
}
