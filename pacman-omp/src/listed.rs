//! The loaded files as of the last look at the loader's list, and look-ups of functions in their tables.
//!
//! A thread that visits the loader's list holds the loader's lock, and so does one that runs the constructors of a
//! plugin. It may start a region there, and waits for the members of its team. So members ask this list, and the
//! loader only for what the list lacks. A region that is new has the list read anew before its team starts.
//!
//! A file leaves the list when its module ends ([`forget`]), which is before its memory is free for another one.

use std::ffi::{CStr, CString, c_void};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::isolation::isolated_memory;
use crate::loaded::{self, Changes, Loaded, NeededNames};
use crate::lock::Lock;
use crate::stub;

/// A loaded file.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The loader's name.
    pub(crate) name: CString,
    pub(crate) build_id: Option<String>,
    /// The difference between its addresses and those in its symbol table.
    pub(crate) bias: u64,
    segments: Vec<Range<u64>>,
    /// From the first segment to the end of the last one.
    pub(crate) span: Range<u64>,
    pub(crate) is_program: bool,
    /// The loader never unloads it, because its linker was told so.
    is_never_deleted: bool,
    /// The files that the loader had loaded so far when it was listed.
    pub(crate) loads: u64,
    /// The address of its dynamic section; 0 without one.
    dynamic: u64,
    is_runtime: bool,
    names: NeededNames,
}

/// Each OpenMP runtime has one of them.
const OF_RUNTIMES: [&CStr; 3] = [c"omp_get_thread_num", c"GOMP_parallel", c"__kmpc_fork_call"];

/// The list.
#[derive(Debug)]
pub(crate) struct List {
    files: Vec<Arc<Listed>>,
    /// The loader's numbers at the last look.
    as_of: Changes,
}

/// Held during a visit of the loader's list: the child of a fork would find the loader's lock taken. Nobody waits for
/// it who holds the lock of the list.
pub(crate) static LOOKING: Lock<()> = Lock::new(());
pub(crate) static LIST: Lock<List> = Lock::new(List { files: Vec::new(), as_of: Changes::NONE });

/// The files that were loaded when the process began, and stay as long as it does.
static START: OnceLock<Vec<Arc<Listed>>> = OnceLock::new();
/// Those of them that this library needs: the C library.
static C_LIBRARY: OnceLock<Vec<Arc<Listed>>> = OnceLock::new();

impl Listed {
    fn of(loaded: &Loaded<'_>) -> Listed {
        // SAFETY: the file stays loaded during the visit.
        let (build_id, is_never_deleted, names) =
            unsafe { (loaded.build_id(), loaded.is_never_deleted(), loaded.needed_names()) };
        let (bias, dynamic) = (loaded.bias(), loaded.dynamic_section().unwrap_or(0));
        let has = |function: &&CStr| !stub::find(bias, dynamic, function).is_null();
        let is_stub = loaded.segments().any(|(segment, _)| segment.contains(&stub::address()));
        Listed {
            name: loaded.name(),
            build_id,
            bias,
            segments: loaded.segments().map(|(segment, _)| segment).collect(),
            span: loaded.span(),
            is_program: loaded.is_program,
            is_never_deleted,
            loads: loaded.changes().loads,
            dynamic,
            is_runtime: !is_stub && OF_RUNTIMES.iter().any(has),
            names,
        }
    }

    fn has(&self, address: u64) -> bool {
        self.segments.iter().any(|segment| segment.contains(&address))
    }

    /// Whether it was loaded when the process began.
    pub(crate) fn is_of_start(&self) -> bool {
        START.get().is_some_and(|start| start.iter().any(|first| first.span == self.span))
    }

    /// Whether it stays loaded as long as the process.
    pub(crate) fn stays(&self) -> bool {
        self.is_never_deleted || self.is_of_start()
    }

    fn find(&self, function: &CStr) -> Option<*mut c_void> {
        let found = stub::find(self.bias, self.dynamic, function);
        (!found.is_null()).then_some(found)
    }

    /// Whether another file that needs `name` gets this one.
    fn is_needed_as(&self, name: &CStr) -> bool {
        self.names.own.as_deref() == Some(name) || last_part(&self.name) == last_part(name)
    }
}

fn last_part(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Reads the loader's list, unless it is as before.
pub(crate) fn look() {
    let _one = LOOKING.lock();
    let before = LIST.lock().as_of;
    let (mut files, mut as_of) = (Vec::new(), before);
    loaded::visit(&mut |loaded| {
        as_of = loaded.changes();
        if as_of == before {
            return false;
        }
        files.push(Arc::new(Listed::of(loaded)));
        true
    });
    if as_of != before {
        *LIST.lock() = List { files, as_of };
    }
}

/// Takes the file that has `address` off the list: it is about to be unloaded.
pub(crate) fn forget(address: u64) {
    let mut list = LIST.lock();
    list.files.retain(|file| !file.has(address));
    list.as_of = Changes::NONE;
}

/// Notes the files that were loaded when the process began. Later ones are behind them in the loader's list.
pub(crate) fn note_start() {
    look();
    let list = LIST.lock();
    let first: Vec<_> = list.files.iter().take(stub::files_at_start()).cloned().collect();
    let own = list.files.iter().find(|file| file.has(note_start as fn() as usize as u64));
    let needs = |file: &&Arc<Listed>| {
        own.is_some_and(|own| own.names.needed.iter().any(|name| file.is_needed_as(name)))
    };
    let _ = C_LIBRARY.set(first.iter().filter(needs).cloned().collect());
    let _ = START.set(first);
}

/// All files, as they are now.
pub(crate) fn all() -> Vec<Arc<Listed>> {
    look();
    LIST.lock().files.clone()
}

/// The file that has `address` in one of its segments.
pub(crate) fn with(address: u64) -> Option<Arc<Listed>> {
    search(|file| file.has(address))
}

/// With signals blocked: a handler that forks would wait for the lock.
fn search(is_it: impl Fn(&Listed) -> bool) -> Option<Arc<Listed>> {
    isolated_memory(|| search_list(is_it))
}

fn search_list(is_it: impl Fn(&Listed) -> bool) -> Option<Arc<Listed>> {
    let search = || LIST.lock().files.iter().find(|file| is_it(file)).cloned();
    search().or_else(|| {
        look();
        search()
    })
}

/// The function of that name in the file that the loader knows by `path`, or in those that it needs, the nearest first.
/// `None` if the file is not loaded. A caller has code of that file under way, which keeps all of them loaded.
pub(crate) fn function_in(path: &CStr, name: &CStr) -> Option<Option<*mut c_void>> {
    isolated_memory(|| function_in_list(path, name))
}

fn function_in_list(path: &CStr, name: &CStr) -> Option<Option<*mut c_void>> {
    let first = search_list(|file| *file.name == *path)?;
    let list = LIST.lock();
    let mut scope = vec![first];
    let mut at = 0;
    while let Some(file) = scope.get(at).cloned() {
        if let Some(found) = file.find(name) {
            return Some(Some(found));
        }
        for needed in &file.names.needed {
            let other = list.files.iter().find(|other| other.is_needed_as(needed));
            let new = other.filter(|other| !scope.iter().any(|known| Arc::ptr_eq(known, other)));
            scope.extend(new.cloned());
        }
        at += 1;
    }
    Some(None)
}

/// Whether `address` is in a runtime that came after the start of the process, and no other runtime is loaded.
pub(crate) fn is_only_late_runtime(address: u64) -> bool {
    let Some(own) = with(address).filter(|own| own.is_runtime && !own.is_of_start()) else {
        return false;
    };
    isolated_memory(|| {
        LIST.lock().files.iter().all(|file| !file.is_runtime || file.span == own.span)
    })
}

/// Whether the loader knows a file by `path`.
pub(crate) fn is_there(path: &CStr) -> bool {
    search(|file| *file.name == *path).is_some()
}

/// The function of that name in the file that has `address`.
pub(crate) fn in_file_of(address: u64, name: &CStr) -> Option<*mut c_void> {
    with(address)?.find(name)
}

/// The C library's function of that name.
pub(crate) fn of_c(name: &CStr) -> Option<*mut c_void> {
    C_LIBRARY.get()?.iter().find_map(|file| file.find(name))
}

/// The function of that name after the preloaded library among the files of the start.
pub(crate) fn after_stub(name: &CStr) -> Option<*mut c_void> {
    let start = START.get()?.iter();
    start.skip_while(|file| !file.has(stub::address())).skip(1).find_map(|file| file.find(name))
}
