//! Machines from the fixtures, unpacked into a directory that goes away again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use pacman_topology::{CpuSet, Topology};

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

    /// Adds the mask beside each list, as every kernel does, for readers that know only masks.
    pub(crate) fn with_masks(self) -> Tree {
        let mut directories = vec![self.0.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let twin =
                    if name == "cpulist" { Some("cpumap") } else { name.strip_suffix("_list") };
                if path.is_dir() {
                    directories.push(path);
                } else if let Some(twin) = twin {
                    let cpus = CpuSet::from_list(&fs::read_to_string(&path).unwrap()).unwrap();
                    fs::write(path.with_file_name(twin), mask(&cpus)).unwrap();
                }
            }
        }
        self
    }

    /// Another tree with the same files.
    pub(crate) fn copy(&self) -> Tree {
        let copy = Tree::empty();
        let mut directories = vec![PathBuf::new()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(self.0.join(&directory)).unwrap() {
                let place = directory.join(entry.unwrap().file_name());
                if self.0.join(&place).is_dir() {
                    fs::create_dir_all(copy.0.join(&place)).unwrap();
                    directories.push(place);
                } else {
                    fs::copy(self.0.join(&place), copy.0.join(&place)).unwrap();
                }
            }
        }
        copy
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

/// The kernel's mask notation.
fn mask(cpus: &CpuSet) -> String {
    let words = cpus.last().map_or(1, |last| last / 32 + 1);
    let word = |index: u32| {
        (0..32).filter(|bit| cpus.contains(index * 32 + bit)).fold(0_u32, |w, bit| w | 1 << bit)
    };
    let words: Vec<String> = (0..words).rev().map(|index| format!("{:08x}", word(index))).collect();
    words.join(",") + "\n"
}
