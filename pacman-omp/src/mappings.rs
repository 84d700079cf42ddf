//! The kernel's list of what is mapped into the process.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pacman_core::system_calls;

/// A part of a file that is mapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// The file, as its path was when it was mapped.
    pub(crate) path: PathBuf,
    /// The device and the number of the file. Some file systems have another device here than in `stat`.
    pub(crate) device: u64,
    pub(crate) inode: u64,
    begin: u64,
    end: u64,
}

/// The kernel puts it behind the path of a file that has no name any more.
const DELETED: &[u8] = b" (deleted)";

impl Mapping {
    /// As [`of`](Self::of), when the process started. For what has been mapped since then.
    pub(crate) fn at_start(address: u64) -> Option<Mapping> {
        let is_it = |mapping: &Mapping| (mapping.begin..mapping.end).contains(&address);
        match START.get() {
            Some(lines) => first(lines, is_it),
            None => Mapping::of(address),
        }
    }

    /// The mapping that has `address`; `None` without one, or where the system does not show them.
    pub(crate) fn of(address: u64) -> Option<Mapping> {
        all(|mapping| (mapping.begin..mapping.end).contains(&address))
    }

    /// The first mapping of a file whose name begins with one of `names`: its path and address.
    pub(crate) fn named(names: &[&str]) -> Option<(PathBuf, u64)> {
        let is_one = |path: &Path| {
            let file = path.file_name().unwrap_or_default().as_bytes();
            names.iter().any(|name| file.starts_with(name.as_bytes()))
        };
        all(|mapping| is_one(&mapping.path)).map(|mapping| (mapping.path, mapping.begin))
    }

    fn parse(line: &[u8]) -> Option<Mapping> {
        let mut rest = line;
        let mut field = || {
            let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
            let field = &rest[..end];
            rest = rest[end..].trim_ascii_start();
            std::str::from_utf8(field).ok()
        };
        let (begin, end) = field()?.split_once('-')?;
        let (_access, _offset) = (field()?, field()?);
        let (major, minor) = field()?.split_once(':')?;
        let inode = field()?.parse().ok()?;
        let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
        let path = rest.strip_suffix(DELETED).unwrap_or(rest);
        Some(Mapping {
            path: PathBuf::from(OsStr::from_bytes(path)),
            device: hexadecimal(major)? << 32 | hexadecimal(minor)?,
            inode,
            begin: hexadecimal(begin)?,
            end: hexadecimal(end)?,
        })
    }
}

/// The list when the process started.
static START: OnceLock<Vec<u8>> = OnceLock::new();

/// Reads the list at the start of the process, so that no call is needed for modules that stay.
pub(crate) fn take() {
    if let Some(lines) = read() {
        let _ = START.set(lines);
    }
}

fn read() -> Option<Vec<u8>> {
    std::fs::read("/proc/self/maps").ok()
}

/// The first mapping that `is_it` accepts.
fn all(is_it: impl Fn(&Mapping) -> bool) -> Option<Mapping> {
    if system_calls::are_forbidden() {
        return None;
    }
    first(&read()?, is_it)
}

fn first(lines: &[u8], is_it: impl Fn(&Mapping) -> bool) -> Option<Mapping> {
    lines.split(|&byte| byte == b'\n').filter_map(Mapping::parse).find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read() {
        let line =
            b"7f00c000-7f00d000 r-xp 00001000 fd:10 5242881                    /opt/a b/x.so";
        let mapping = Mapping::parse(line).expect("it is whole");
        let path = PathBuf::from("/opt/a b/x.so");
        let expected = Mapping {
            path,
            device: 0xfd << 32 | 0x10,
            inode: 5_242_881,
            begin: 0x7f00_c000,
            end: 0x7f00_d000,
        };
        assert_eq!(mapping, expected);
        let gone = [&line[..], b" (deleted)"].concat();
        assert_eq!(Mapping::parse(&gone), Some(expected), "it has its path without that word");
        let anonymous = b"7f00c000-7f00d000 rw-p 00000000 00:00 0 ";
        assert_eq!(Mapping::parse(anonymous).expect("it is whole").path, PathBuf::new());
        assert_eq!(Mapping::parse(b""), None);
    }

    #[test]
    fn files_are_found_by_address_and_by_name() {
        let libc = Mapping::of(libc::getpid as *const () as u64).expect("it is mapped");
        let (path, address) = Mapping::named(&["libgomp.so", "libc.so"]).expect("it has a libc");
        assert_eq!(path, libc.path);
        assert_eq!(Mapping::of(address).expect("it is mapped").inode, libc.inode);
        assert_eq!(Mapping::named(&["libgomp.so"]), None, "this test has no runtime");
        assert_eq!(Mapping::of(8), None);
    }
}
