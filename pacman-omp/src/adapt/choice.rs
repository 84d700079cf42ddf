//! How the next execution of a region runs.

use crate::adapted::{CachedDecision, TeamChoice};

/// How the next execution of a region runs.
pub(crate) enum Choice<'w> {
    /// As the execution before.
    Cached(&'w CachedDecision),
    /// With the program's own team; the controller learns nothing.
    Unadapted,
    /// With a team for this execution alone.
    Once(TeamChoice),
}
