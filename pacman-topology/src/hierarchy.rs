//! The directories of the process's control groups, from the innermost to the outermost that can be read.

use crate::input::{self, MOST_SYSTEM_BYTES};
use crate::tree::Tree;

/// The mounted hierarchies, and the process's group in each.
pub(crate) struct Hierarchies {
    mounts: Vec<Mount>,
    /// The controllers of a hierarchy (none for version 2), and the path of the group.
    groups: Vec<(String, String)>,
}

/// A hierarchy, or a part of one, that is mounted.
struct Mount {
    /// An absolute path.
    at: String,
    /// The group that is seen at `at`.
    root: String,
    /// The options of the file system, which name the controllers; `None` for version 2.
    options: Option<String>,
}

impl Hierarchies {
    pub(crate) fn of(tree: &Tree) -> Hierarchies {
        let text = |file: &str| {
            input::open_regular(&tree.proc_file(file))
                .and_then(|file| input::text_of(file, MOST_SYSTEM_BYTES))
                .unwrap_or_default()
        };
        let mut mounts: Vec<Mount> =
            text("self/mountinfo").lines().filter_map(Mount::from_line).collect();
        // Copied trees have the older list, or none.
        if mounts.is_empty() {
            mounts = text("mounts").lines().filter_map(Mount::from_older_line).collect();
        }
        if mounts.is_empty() {
            mounts = Mount::usual();
        }
        let group = |line: &str| {
            let mut fields = line.splitn(3, ':').skip(1);
            Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
        };
        let mut groups: Vec<_> = text("self/cgroup").lines().filter_map(group).collect();
        if groups.is_empty() {
            // The same path in either version. It is the process's group, or one around it that has a cpuset.
            let path = text("self/cpuset");
            let in_version = |controllers: &str| (controllers.to_owned(), path.trim().to_owned());
            groups.extend(["cpuset", ""].map(in_version));
            groups.retain(|(_, path)| !path.is_empty());
        }
        Hierarchies { mounts, groups }
    }

    /// Of version 2.
    pub(crate) fn unified(&self) -> Vec<String> {
        let group = self.groups.iter().find(|(controllers, _)| controllers.is_empty());
        self.inside_out(group, |mount| mount.options.is_none())
    }

    /// Of version 1, for one controller.
    pub(crate) fn of_controller(&self, name: &str) -> Vec<String> {
        let has = |list: &str| list.split(',').any(|word| word == name);
        let group = self.groups.iter().find(|(controllers, _)| has(controllers));
        self.inside_out(group, |mount| mount.options.as_deref().is_some_and(has))
    }

    /// Under every mount that `serves`, the innermost first.
    fn inside_out(
        &self,
        group: Option<&(String, String)>,
        serves: impl Fn(&Mount) -> bool,
    ) -> Vec<String> {
        let Some((_, path)) = group else { return Vec::new() };
        let of_mount = |mount: &Mount| mount.inside_out(path);
        let found: Vec<_> =
            self.mounts.iter().filter(|mount| serves(mount)).map(of_mount).collect();
        let deepest = found.iter().map(Vec::len).max().unwrap_or(0);
        // Mounts of the same part go together, so that what is nearer to the process comes first.
        let mut all: Vec<String> = Vec::new();
        for depth in (0..deepest).rev() {
            for directories in &found {
                // The last one is at the mount's root, which has depth 0.
                let directory = directories.len().checked_sub(depth + 1).map(|at| &directories[at]);
                all.extend(directory.filter(|it| !all.contains(it)).cloned());
            }
        }
        all
    }
}

impl Mount {
    /// `36 35 98:0 /root /at rw,noatime master:1 - cgroup cgroup rw,cpu`, with blanks as `\040`.
    fn from_line(line: &str) -> Option<Mount> {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, at) = (plain(mount.next()?), plain(mount.next()?));
        let mut system = system.split(' ');
        Mount::of_kind(at, root, system.next()?, system.nth(1)?)
    }

    /// `device /at cgroup rw,cpu 0 0`, which does not tell the group that is seen there.
    fn from_older_line(line: &str) -> Option<Mount> {
        let mut fields = line.split(' ').skip(1);
        let (at, kind, options) = (plain(fields.next()?), fields.next()?, fields.next()?);
        Mount::of_kind(at, "/".to_owned(), kind, options)
    }

    /// `None` for another file system.
    fn of_kind(at: String, root: String, kind: &str, options: &str) -> Option<Mount> {
        let options = match kind {
            "cgroup2" => None,
            "cgroup" => Some(options.to_owned()),
            // Before Linux 2.6.24.
            "cpuset" => Some("cpuset".to_owned()),
            _ => return None,
        };
        Some(Mount { at, root, options })
    }

    /// Where a copy of `/sys` has no list of mounts.
    fn usual() -> Vec<Mount> {
        let at = |name: &str, controllers: Option<&str>| Mount {
            at: format!("/sys/fs/cgroup{name}"),
            root: "/".to_owned(),
            options: controllers.map(str::to_owned),
        };
        vec![
            at("", None),
            at("/unified", None),
            at("/cpu,cpuacct", Some("cpu,cpuacct")),
            at("/cpu", Some("cpu")),
            at("/cpuset", Some("cpuset")),
        ]
    }

    /// The directories of the group and its ancestors, down to the mount's root.
    ///
    /// Without a namespace of its own, a container has the machine's path of its group. The mount may show this
    /// group or one around it as `/`. The list always ends with the mount's root, which is then the nearest
    /// group that can be read.
    fn inside_out(&self, path: &str) -> Vec<String> {
        let names = |path: &str| -> Vec<String> {
            path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let (root, mut inside) = (names(&self.root), names(path));
        if inside.starts_with(&root) {
            inside.drain(..root.len());
        }
        // A group outside of the namespace appears as `/../..`, and so does a mount's root. Names on the way
        // between the two are unknown.
        if inside.iter().chain(&root).any(|name| name == "..") {
            inside.clear();
        }
        let at = self.at.trim_end_matches('/');
        let directory = |depth| match depth {
            0 => at.to_owned(),
            _ => format!("{at}/{}", inside[..depth].join("/")),
        };
        (0..=inside.len()).rev().map(directory).collect()
    }
}

/// The text with its escapes resolved: blanks, line ends and backslashes are octal numbers.
fn plain(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                all.push(char::from(code));
                all.push_str(&part[3..]);
            }
            None => {
                all.push('\\');
                all.push_str(part);
            }
        }
    }
    all
}
