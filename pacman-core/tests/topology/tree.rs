//! Machines from the fixtures, unpacked into a directory that goes away again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use pacman_core::Topology;
use pacman_core::topology::CpuSet;

/// A copy of some machine's `/sys` and `/proc`.
pub(crate) struct Tree(PathBuf);

impl Tree {
    /// A directory without any file.
    pub(crate) fn empty() -> Tree {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("tree-{}-{number}", std::process::id());
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).unwrap();
        Tree(root)
    }

    /// The machine that `tests/fixtures/topology` keeps under that name.
    pub(crate) fn of(machine: &str) -> Tree {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/topology");
        let text = fs::read_to_string(fixtures.join(format!("{machine}.txt"))).unwrap();
        text.lines().fold(Tree::empty(), |tree, line| {
            let (path, content) = line.split_once('\t').unwrap();
            tree.with(path, &content.replace("\\t", "\t").replace("\\n", "\n"))
        })
    }

    /// Writes one file, or one for each CPU where the path has a list in brackets.
    pub(crate) fn with(self, path: &str, content: &str) -> Tree {
        let paths = match path.split_once('[') {
            None => vec![path.to_owned()],
            Some((before, rest)) => {
                let (cpus, after) = rest.split_once(']').unwrap();
                let cpus = CpuSet::from_list(cpus).unwrap();
                cpus.iter().map(|cpu| format!("{before}{cpu}{after}")).collect()
            }
        };
        for path in paths {
            let file = self.0.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{content}\n")).unwrap();
        }
        self
    }

    /// Removes a file or directory.
    pub(crate) fn without(self, path: &str) -> Tree {
        let victim = self.0.join(path);
        if victim.is_dir() {
            fs::remove_dir_all(victim).unwrap()
        } else {
            fs::remove_file(victim).unwrap()
        }
        self
    }

    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    pub(crate) fn read(&self) -> Topology {
        Topology::from_sysfs(&self.0).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
