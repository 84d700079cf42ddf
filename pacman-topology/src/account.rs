//! Quotas as they are at present: that of this process, and what quotas have taken.

use std::path::Path;

use crate::cgroup;
use crate::restriction::{Quota, Throttling};
use crate::snapshot::Topology;
use crate::tree::Tree;

impl Quota {
    /// That of the calling process, without the rest of the [topology](Topology), as in [`Topology::quota`].
    pub fn of_this_process() -> Option<Quota> {
        cgroup::quota(&Tree::under(Path::new("/")))
    }

    /// The kernel's present account of the group on this system that has the quota; `None` if it has none.
    pub fn throttling(&self) -> Option<Throttling> {
        cgroup::throttling(&Tree::under(Path::new("/")), self)
    }
}

impl Topology {
    /// The kernel's present account of the group that has the [quota](Self::quota); `None` without a quota, and
    /// where the group has no such account.
    pub fn throttling(&self) -> Option<Throttling> {
        cgroup::throttling(&Tree::of(self)?, self.quota()?)
    }
}
