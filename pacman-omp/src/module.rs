//! The loaded module that has an address, and the files of the modules met so far.
//!
//! An address says nothing of a module for long: a program may close a plugin and load another one at the
//! same place, and a file may be replaced between the two. So a module is known by its file, and a file by
//! its build ID and its number on its device. A file that is loaded again is the same file.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::ops::{Deref, Range};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pacman_regions::FileIdentity;

use crate::listed::{self, LOOKING, Listed};
use crate::loaded;
use crate::lock::Lock;
use crate::mappings::Mapping;

/// A loaded module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Module {
    pub(crate) file: &'static File,
    /// The difference between its addresses and those in its symbol table.
    pub(crate) bias: u64,
}

/// The file of a module. The library keeps one for each file, also when no module has it any more.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// Empty for code outside of any file.
    pub(crate) path: PathBuf,
    /// The name by which the loader finds it again.
    pub(crate) name: CString,
    /// For readers of the recording, which may see another file at that path.
    pub(crate) identity: Option<FileIdentity>,
    /// Whether it is the program itself.
    pub(crate) is_program: bool,
    key: Key,
}

/// Tells files apart within the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Key {
    /// The device and the number of the file in the kernel's list of mappings.
    on_device: (u64, u64),
    /// Its build ID, or the facts of a file without one: a new file may get the number of a deleted one.
    identity: Option<FileIdentity>,
    /// For files that the kernel gives no number.
    unnumbered: Option<PathBuf>,
}

/// A module that was met at its present place.
#[derive(Debug)]
struct Met {
    module: Module,
    span: Range<u64>,
    /// The files that the loader had loaded when the module was last seen there.
    loads: u64,
}

/// The modules and files met so far.
#[derive(Debug)]
pub(crate) struct Modules {
    met: Vec<Met>,
    files: Vec<&'static File>,
}

pub(crate) static MODULES: Lock<Modules> =
    Lock::new(Modules { met: Vec::new(), files: Vec::new() });

impl Deref for Module {
    type Target = File;

    fn deref(&self) -> &File {
        self.file
    }
}

impl Module {
    /// The module that has `address` in one of its segments.
    pub(crate) fn of(address: u64) -> Module {
        let listed = listed::with(address);
        let mut modules = MODULES.lock();
        match listed {
            Some(listed) => modules.met(&listed),
            None => Module { file: modules.kept(File::default()), bias: 0 },
        }
    }
}

impl Listed {
    /// Whether the module is still the one that was met there. If it has no build ID, the loader must have
    /// loaded nothing since.
    fn is(&self, met: &Met) -> bool {
        let build_id = met.module.file.identity.as_ref().and_then(FileIdentity::build_id);
        (met.span == self.span && met.module.bias == self.bias)
            && build_id == self.build_id.as_deref()
            && (build_id.is_some() || met.loads == self.loads)
    }

    fn file(&self) -> File {
        let mapping = if self.is_of_start() { Mapping::at_start } else { Mapping::of };
        let mapping = mapping(self.span.start).unwrap_or_default();
        let (name, is_program) = (&self.name, self.is_program);
        let named = Path::new(OsStr::from_bytes(name.as_bytes()));
        let path = if !named.is_absolute() && mapping.path.is_absolute() {
            mapping.path.clone()
        } else if !named.is_absolute() && is_program {
            std::fs::read_link("/proc/self/exe").unwrap_or_else(|_| executed())
        } else {
            named.to_owned()
        };
        let name = match is_program {
            true => CString::new(path.as_os_str().as_bytes()).unwrap_or_default(),
            false => name.clone(),
        };
        let build_id = self.build_id.clone().map(FileIdentity::BuildId);
        let identity = build_id.or_else(|| metadata(&path, mapping.inode));
        let unnumbered = (mapping.inode == 0).then(|| path.clone());
        let on_device = (mapping.device, mapping.inode);
        let key = Key { on_device, identity: identity.clone(), unnumbered };
        File { path, name, identity, is_program, key }
    }
}

/// The path by which the program was executed.
fn executed() -> PathBuf {
    // SAFETY: the kernel has left the address of a C string for the process, or 0.
    let name = unsafe {
        let at = libc::getauxval(libc::AT_EXECFN) as *const c_char;
        if at.is_null() { c"" } else { CStr::from_ptr(at) }
    };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    std::path::absolute(path).unwrap_or_default()
}

/// The system's facts of the file at `path`, if that is still the one with the number `inode`.
fn metadata(path: &Path, inode: u64) -> Option<FileIdentity> {
    let about = std::fs::metadata(path).ok().filter(|about| about.ino() == inode)?;
    Some(FileIdentity::Metadata {
        device: about.dev(),
        inode,
        size: about.size(),
        modified: about.mtime().saturating_mul(1_000_000_000).saturating_add(about.mtime_nsec()),
    })
}

impl Modules {
    fn met(&mut self, listed: &Listed) -> Module {
        if let Some(met) = self.met.iter().find(|met| listed.is(met)) {
            return met.module;
        }
        let Listed { bias, span, loads, .. } = listed;
        let module = Module { file: self.kept(listed.file()), bias: *bias };
        let is_at = |met: &Met| met.span == *span && std::ptr::eq(met.module.file, module.file);
        match self.met.iter_mut().find(|met| is_at(met)) {
            Some(met) => met.loads = *loads,
            None => self.met.push(Met { module, span: span.clone(), loads: *loads }),
        }
        module
    }

    /// The one file with that key.
    fn kept(&mut self, file: File) -> &'static File {
        let known = self.files.iter().copied().find(|known| known.key == file.key);
        known.unwrap_or_else(|| {
            let file: &'static File = Box::leak(Box::new(file));
            self.files.push(file);
            file
        })
    }
}

/// The places of modules that were met and are not loaded there any more. Each is named once.
pub(crate) fn gone() -> Vec<Range<u64>> {
    let there = listed::all();
    let newest = there.first().map_or(0, |listed| listed.loads);
    let mut modules = MODULES.lock();
    let is_there = |met: &Met| {
        // Another thread has met it since then.
        if met.loads > newest {
            return true;
        }
        let is_it = |seen: &&Arc<Listed>| seen.span == met.span && seen.bias == met.module.bias;
        let own = there.iter().find(is_it);
        own.is_some_and(|seen| {
            if seen.is(met) {
                return true;
            }
            let mapping = Mapping::of(met.span.start).unwrap_or_default();
            // Others were loaded meanwhile, and this one has no build ID.
            (mapping.device, mapping.inode) == met.module.file.key.on_device
        })
    };
    let (kept, gone): (Vec<Met>, Vec<Met>) =
        std::mem::take(&mut modules.met).into_iter().partition(is_there);
    modules.met = kept;
    gone.into_iter().map(|met| met.span).collect()
}

/// The places with `address` at which modules were met.
pub(crate) fn met_at(address: u64) -> Vec<Range<u64>> {
    let modules = MODULES.lock();
    let spans = modules.met.iter().map(|met| &met.span);
    spans.filter(|span| span.contains(&address)).cloned().collect()
}

/// Meets all modules that are loaded now: later the library may make no system call to tell their files.
pub(crate) fn meet_all() {
    let all = listed::all();
    let mut modules = MODULES.lock();
    all.iter().for_each(|listed| _ = modules.met(listed));
}

/// The first module whose file name begins with one of `names`: its path and address.
pub(crate) fn named(names: &[&str]) -> Option<(PathBuf, u64)> {
    listed::all().iter().find_map(|listed| {
        let path = PathBuf::from(OsStr::from_bytes(listed.name.as_bytes()));
        let file = path.file_name().unwrap_or_default().as_bytes();
        let is_one = names.iter().any(|name| file.starts_with(name.as_bytes()));
        is_one.then(|| (path.clone(), listed.span.start))
    })
}

/// Whether the module that has `address` stays loaded as long as the process.
pub(crate) fn stays(address: u64) -> bool {
    listed::with(address).is_some_and(|listed| listed.stays())
}

/// The address at which the program itself begins.
pub(crate) fn entry_of_program() -> u64 {
    // SAFETY: it reads what the kernel has left for the process.
    unsafe { libc::getauxval(libc::AT_ENTRY) }
}

/// Whether a loaded file whose name contains `name` has the C string `text` in a read-only segment.
pub(crate) fn has_text(name: &str, text: &CStr) -> bool {
    let _one = LOOKING.lock();
    let mut found = false;
    loaded::visit(&mut |loaded| {
        let file = loaded.name();
        let is_named = file.as_bytes().windows(name.len()).any(|part| part == name.as_bytes());
        found |= is_named && loaded.has_text(text);
        true
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> u64 {
        Module::of as fn(u64) -> Module as usize as u64
    }

    #[test]
    fn an_address_has_the_module_that_contains_it() {
        let own = Module::of(own());
        assert_eq!(own.path, std::env::current_exe().unwrap());
        assert!(own.is_program);
        let libc = Module::of(libc::getpid as *const () as u64);
        assert!(libc.path.to_string_lossy().contains("libc"), "{libc:?}");
        assert!(!libc.is_program && libc.bias != own.bias);
        assert!(std::ptr::eq(libc.file, Module::of(libc::getuid as *const () as u64).file));
        let nowhere = Module::of(8);
        assert_eq!((nowhere.path.as_os_str().len(), nowhere.bias), (0, 0));
        assert_eq!(Module::of(entry_of_program()).path, std::env::current_exe().unwrap());
    }

    #[test]
    fn a_file_is_known_by_its_build_id_or_by_the_facts_of_the_system() {
        let libc = Module::of(libc::getpid as *const () as u64);
        let id = libc.identity.as_ref().and_then(FileIdentity::build_id).expect("Debian's has one");
        assert!(id.len() >= 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
        let file = tempfile::NamedTempFile::new().expect("a place for tests");
        let about = std::fs::metadata(file.path()).expect("it is there");
        assert_eq!(metadata(file.path(), about.ino() + 1), None, "another file is there now");
        let before = metadata(file.path(), about.ino()).expect("it is there");
        std::fs::write(file.path(), "other").expect("it can be written");
        assert_ne!(metadata(file.path(), about.ino()), Some(before));
    }
}
