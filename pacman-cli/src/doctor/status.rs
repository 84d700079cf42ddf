//! The exit status of a diagnosis.

use crate::doctor::checks::Verdict;

/// 0 when hardware counting works, 3 when only software events do, 1 when nothing does.
pub(super) fn exit_status(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Hardware => 0,
        Verdict::SoftwareOnly => 3,
        _ => 1,
    }
}
