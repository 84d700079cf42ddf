//! The CPUs and the CPU time that cgroups (version 1, 2 or both) take away.

use pacman_events::few;

use crate::CpuSet;
use crate::error::Result;
use crate::input::{self, MOST_SYSTEM_BYTES};
use crate::restriction::Quota;
use crate::tree::Tree;

/// The CPUs that the innermost cpuset allows, and the path of its file.
pub(crate) fn cpuset(tree: &Tree) -> Result<Option<(String, CpuSet)>> {
    let groups = Groups::of(tree);
    for (mounts, path, names) in [
        (&["cpuset"][..], &groups.cpuset, &["cpuset.effective_cpus", "cpuset.cpus"][..]),
        (&["", "unified"][..], &groups.unified, &["cpuset.cpus.effective"][..]),
    ] {
        for directory in inside_out(mounts, path.as_deref()) {
            for name in names {
                let file = format!("{directory}/{name}");
                if let Some(cpus) = tree.set(&file)? {
                    return Ok(Some((format!("/sys/{file}"), cpus)));
                }
            }
        }
    }
    Ok(None)
}

/// The tightest limit on CPU time of the group and its ancestors.
pub(crate) fn quota(tree: &Tree) -> Result<Option<Quota>> {
    let groups = Groups::of(tree);
    let mut found: Vec<Quota> = Vec::new();
    for directory in inside_out(&["", "unified"], groups.unified.as_deref()) {
        let file = format!("{directory}/cpu.max");
        let text = tree.text(&file).unwrap_or_default();
        let mut fields = text.split_whitespace();
        found.extend(limit(fields.next(), fields.next(), file));
    }
    for directory in inside_out(&["cpu,cpuacct", "cpu"], groups.cpu.as_deref()) {
        let file = format!("{directory}/cpu.cfs_quota_us");
        let (micros, period) =
            (tree.text(&file), tree.text(&format!("{directory}/cpu.cfs_period_us")));
        found.extend(limit(micros.as_deref(), period.as_deref(), file));
    }
    // The sort is stable: among equal limits the innermost comes first.
    few::sort_by(&mut found, |a, b| a.cpus().total_cmp(&b.cpus()));
    Ok(found.into_iter().next())
}

/// The limit; `None` if the text stands for no limit (`max`, `-1`).
fn limit(micros: Option<&str>, period: Option<&str>, file: String) -> Option<Quota> {
    let micros = micros?.parse().ok()?;
    let period_micros = period?.parse().ok().filter(|&period| period > 0)?;
    Some(Quota { micros, period_micros, file: format!("/sys/{file}") })
}

/// The process's group in each relevant hierarchy.
#[derive(Default)]
struct Groups {
    unified: Option<String>,
    cpuset: Option<String>,
    cpu: Option<String>,
}

impl Groups {
    fn of(tree: &Tree) -> Groups {
        let mut groups = Groups::default();
        let text =
            input::read_text(&tree.proc_file("self/cgroup"), MOST_SYSTEM_BYTES).unwrap_or_default();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if controllers.is_empty() {
                groups.unified = Some(path.to_owned());
            }
            for controller in controllers.split(',') {
                match controller {
                    "cpu" => groups.cpu = Some(path.to_owned()),
                    "cpuset" => groups.cpuset = Some(path.to_owned()),
                    _ => {}
                }
            }
        }
        groups
    }
}

/// The directories of a group and its ancestors, under every mount point, innermost first.
///
/// Inside a container the path is often the host's, while the mount shows only the container's own
/// group as its root. The list ends with that root, so it contains the group.
fn inside_out(mounts: &[&str], path: Option<&str>) -> Vec<String> {
    let Some(path) = path else { return Vec::new() };
    let mut names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    // A group outside of the namespace appears as `/../..`. Then only the mount's root can be read.
    if names.contains(&"..") {
        names.clear();
    }
    let mut directories = Vec::new();
    for depth in (0..=names.len()).rev() {
        for mount in mounts {
            let whole: Vec<&str> = ["fs/cgroup", mount]
                .into_iter()
                .chain(names[..depth].iter().copied())
                .filter(|part| !part.is_empty())
                .collect();
            directories.push(whole.join("/"));
        }
    }
    directories
}
