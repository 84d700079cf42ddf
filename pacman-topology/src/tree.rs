//! Reads files below a directory that holds `sys`, of this system or copied from another.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pacman_events::shown::{excerpt, shown_path};

use crate::cpu_bits::{CpuBits, LAST_CPU};
use crate::cpu_set::CpuSet;
use crate::input::{self, MOST_SYSTEM_BYTES};
use crate::snapshot::{Source, Topology};
use pacman_events::{Error, ErrorKind, Result};

/// A directory that holds `sys`, and sometimes `proc`.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    sys: PathBuf,
}

impl Tree {
    pub(crate) fn under(root: &Path) -> Tree {
        let inside = root.join("sys");
        if !inside.is_dir() && root.join("devices/system/cpu").is_dir() {
            let above = root.parent().unwrap_or(root);
            return Tree { root: above.to_owned(), sys: root.to_owned() };
        }
        Tree { root: root.to_owned(), sys: inside }
    }

    /// The tree that a topology was read from, if it was read from one.
    pub(crate) fn of(machine: &Topology) -> Option<Tree> {
        match machine.source() {
            Source::Sysfs(root) => Some(Tree::under(root)),
            Source::Hwloc if machine.is_this_system() => Some(Tree::under(Path::new("/"))),
            Source::Hwloc | Source::Synthetic(_) | Source::Simulated(_) => None,
        }
    }

    /// A file of `/proc` in this tree.
    pub(crate) fn proc_file(&self, path: &str) -> PathBuf {
        self.root.join("proc").join(path)
    }

    /// As [`text`](Self::text), of a file with an absolute path on that system.
    pub(crate) fn text_at(&self, path: &str) -> Option<String> {
        self.text_in(&self.place(path))
    }

    /// As [`set`](Self::set), of a file with an absolute path on that system.
    pub(crate) fn set_at(&self, path: &str) -> Result<Option<CpuSet>> {
        let Some(text) = self.text_at(path) else { return Ok(None) };
        let malformed = |error: Error| malformed(&self.place(path), &error.to_string());
        CpuSet::from_list(&text).map(Some).map_err(malformed)
    }

    /// The tree may be a copy of `sys` itself, without a directory above it.
    fn place(&self, path: &str) -> PathBuf {
        match path.strip_prefix("/sys/") {
            Some(inside) => self.sys.join(inside),
            None => self.root.join(path.trim_start_matches('/')),
        }
    }

    /// Whether a file or directory exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.sys.join(path).exists()
    }

    /// A file's text without surrounding blanks; `None` if it is absent, unreadable or empty.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.text_in(&self.sys.join(path))
    }

    fn text_in(&self, path: &Path) -> Option<String> {
        let text = input::text_of(input::open_regular(path).ok()?, MOST_SYSTEM_BYTES).ok()?;
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Result<Option<T>> {
        let Some(text) = self.text(path) else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.malformed(path, &format!("{} is not a number", excerpt(&text)))),
        }
    }

    /// The CPUs of a file in list notation, such as `0-3,6`; `None` if the file has no text.
    pub(crate) fn set(&self, path: &str) -> Result<Option<CpuSet>> {
        let Some(text) = self.text(path) else { return Ok(None) };
        CpuSet::from_list(&text).map(Some).map_err(|error| self.malformed(path, &error.to_string()))
    }

    pub(crate) fn mask(&self, path: &str) -> Result<Option<CpuSet>> {
        let Some(text) = self.text(path) else { return Ok(None) };
        CpuSet::from_mask(&text).map(Some).map_err(|error| self.malformed(path, &error.to_string()))
    }

    /// The CPUs of the file `new`, or of `old` on older kernels, in mask or list notation.
    ///
    /// Masks are older, and other tools read them. So in trees that were changed by hand, the mask has the
    /// change.
    pub(crate) fn first_bits(&self, new: &str, old: &str) -> Result<Option<CpuBits>> {
        for name in [new, old] {
            let list = format!("{name}_list");
            for (path, read) in [
                (name, CpuBits::from_mask as fn(&str) -> std::result::Result<_, &str>),
                (list.as_str(), CpuBits::from_list),
            ] {
                let Some(text) = self.text(path) else { continue };
                let wrong =
                    |item| self.malformed(path, &format!("{} names no cpus", excerpt(item)));
                return read(&text).map(Some).map_err(wrong);
            }
        }
        Ok(None)
    }

    /// The numbers of all entries of `directory` that are called `prefix` and a CPU number.
    pub(crate) fn numbered(&self, directory: &str, prefix: &str) -> CpuSet {
        let Ok(entries) = fs::read_dir(self.sys.join(directory)) else { return CpuSet::default() };
        let number = |entry: fs::DirEntry| {
            entry.file_name().to_str()?.strip_prefix(prefix)?.parse::<u32>().ok()
        };
        entries.filter_map(|entry| number(entry.ok()?)).filter(|it| *it <= LAST_CPU).collect()
    }

    pub(crate) fn malformed(&self, path: &str, what: &str) -> Error {
        malformed(&self.sys.join(path), what)
    }
}

fn malformed(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        format!("cannot read the topology from {}: {what}", shown_path(path)),
    )
}
