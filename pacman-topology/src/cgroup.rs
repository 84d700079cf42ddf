//! The CPUs and the CPU time that cgroups (version 1, 2 or both) take away.

use pacman_events::few;

use crate::CpuSet;
use crate::hierarchy::Hierarchies;
use crate::restriction::{Quota, Throttling};
use crate::tree::Tree;
use pacman_events::Result;

/// The files of a cpuset of version 1. A mount with `noprefix`, as on Android, has the last two.
const VERSION_1: [&str; 4] = ["cpuset.effective_cpus", "cpuset.cpus", "effective_cpus", "cpus"];

/// The CPUs that the innermost cpuset allows, and the path of its file.
pub(crate) fn cpuset(tree: &Tree) -> Result<Option<(String, CpuSet)>> {
    let groups = Hierarchies::of(tree);
    for (directories, names) in [
        (groups.of_controller("cpuset"), &VERSION_1[..]),
        (groups.unified(), &["cpuset.cpus.effective"][..]),
    ] {
        for directory in directories {
            for name in names {
                let file = format!("{directory}/{name}");
                if let Some(cpus) = tree.set_at(&file)? {
                    return Ok(Some((file, cpus)));
                }
            }
        }
    }
    Ok(None)
}

/// The tightest limit on CPU time of the group and its ancestors.
pub(crate) fn quota(tree: &Tree) -> Option<Quota> {
    let groups = Hierarchies::of(tree);
    let mut found: Vec<Quota> = Vec::new();
    for directory in groups.unified() {
        let file = format!("{directory}/cpu.max");
        let text = tree.text_at(&file).unwrap_or_default();
        let mut fields = text.split_whitespace();
        found.extend(limit(fields.next(), fields.next(), file));
    }
    for directory in groups.of_controller("cpu") {
        let file = format!("{directory}/cpu.cfs_quota_us");
        let (micros, period) =
            (tree.text_at(&file), tree.text_at(&format!("{directory}/cpu.cfs_period_us")));
        found.extend(limit(micros.as_deref(), period.as_deref(), file));
    }
    // The sort is stable: among equal limits the innermost comes first.
    few::sort_by(&mut found, |a, b| a.cpus().total_cmp(&b.cpus()));
    found.into_iter().next()
}

/// The limit; `None` if the text stands for no limit (`max`, `-1`).
fn limit(micros: Option<&str>, period: Option<&str>, file: String) -> Option<Quota> {
    let micros = micros?.parse().ok()?;
    let period_micros = period?.parse().ok().filter(|&period| period > 0)?;
    Some(Quota { micros, period_micros, file })
}

/// The kernel's account of the group that has this limit.
pub(crate) fn throttling(tree: &Tree, quota: &Quota) -> Option<Throttling> {
    let (directory, _) = quota.file.rsplit_once('/')?;
    let text = tree.text_at(&format!("{directory}/cpu.stat"))?;
    let number = |name: &str| -> Option<u64> {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
    };
    // Version 2 counts microseconds, version 1 nanoseconds.
    let micros = number("throttled_usec").map(|micros| micros.saturating_mul(1_000));
    Some(Throttling {
        periods: number("nr_periods")?,
        throttled_periods: number("nr_throttled")?,
        throttled_nanos: micros.or_else(|| number("throttled_time"))?,
    })
}
