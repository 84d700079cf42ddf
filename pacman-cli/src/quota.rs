//! Watches a control group's quota of CPU time during a run.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use pacman_core::topology::{Quota, Throttling};
use pacman_report::quota::GroupAccount;

use crate::system;

/// A quota, from the start of a run to its end.
pub(crate) struct QuotaWatch {
    quota: Quota,
    before: Throttling,
    began: Instant,
}

impl QuotaWatch {
    /// `None` without a quota, and without the kernel's account of one.
    pub(crate) fn begin() -> Option<QuotaWatch> {
        let quota = Quota::of_this_process()?;
        let before = quota.throttling()?;
        Some(QuotaWatch { quota, before, began: Instant::now() })
    }

    /// The account of the run. `None` if the kernel gives none any more.
    pub(crate) fn end(self) -> Option<GroupAccount> {
        let seconds = self.began.elapsed().as_secs_f64();
        let totals = |all: Throttling| [all.periods, all.throttled_periods, all.throttled_nanos];
        Some(GroupAccount {
            group: name_of(&self.quota.file),
            cpus: self.quota.cpus(),
            fitting: self.quota.threads(),
            seconds,
            before: totals(self.before),
            after: totals(self.quota.throttling()?),
        })
    }
}

/// The boot of the kernel, and the group's directory: a container has another path to it.
fn name_of(file: &str) -> String {
    let place = Path::new(file).parent().and_then(|directory| fs::metadata(directory).ok());
    let place = place.map_or_else(|| file.to_owned(), |at| format!("{}:{}", at.dev(), at.ino()));
    format!("{} {place}", system::boot())
}
