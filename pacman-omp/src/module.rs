//! Which file an address was loaded from.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use pacman_core::fork::Lock;

/// A loaded file, as far as the library has to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Module {
    /// Its path; empty for code outside of any file.
    pub(crate) path: PathBuf,
    /// What was added to the addresses of its symbol table.
    pub(crate) bias: u64,
    /// Bytes of thread-local storage that it has for each thread.
    pub(crate) thread_local: u64,
    /// Whether it is the program itself.
    pub(crate) is_program: bool,
}

struct Search {
    address: u64,
    found: Option<Module>,
    first: bool,
}

/// Held while the loader goes through its list: it has a lock of its own for that, which the child of
/// a fork would find taken.
pub(crate) static SEARCHING: Lock<()> = Lock::new(());

impl Module {
    /// The module that has `address` in one of its segments.
    pub(crate) fn of(address: u64) -> Module {
        let mut search = Search { address, found: None, first: true };
        let _one = SEARCHING.lock();
        // SAFETY: the callback gets this very structure, and only while the call lasts.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        search.found.unwrap_or_default()
    }
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: `Module::of` passes its `Search`; the loader's record lives during the call.
    let (search, info) = unsafe { (&mut *search.cast::<Search>(), &*info) };
    // The loader lists the program first, under an empty name.
    let is_program = std::mem::replace(&mut search.first, false);
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader says how many headers there are.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let has = |header: &&libc::Elf64_Phdr| {
        let begin = info.dlpi_addr.wrapping_add(header.p_vaddr);
        header.p_type == libc::PT_LOAD
            && (begin..begin.wrapping_add(header.p_memsz)).contains(&search.address)
    };
    if !headers.iter().any(|header| has(&header)) {
        return 0;
    }
    let thread_local = headers.iter().filter(|header| header.p_type == libc::PT_TLS);
    let path = if is_program {
        std::fs::read_link("/proc/self/exe").unwrap_or_default()
    } else {
        // SAFETY: the loader's names end in a zero.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        PathBuf::from(OsStr::from_bytes(name.to_bytes()))
    };
    search.found = Some(Module {
        path,
        bias: info.dlpi_addr,
        thread_local: thread_local.map(|header| header.p_memsz).sum(),
        is_program,
    });
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_data_and_nothing_are_told_apart() {
        let own = Module::of(Module::of as fn(u64) -> Module as usize as u64);
        assert_eq!(own.path, std::env::current_exe().unwrap());
        assert!(own.is_program && own.thread_local > 0, "the test harness has thread-locals");
        let libc = Module::of(libc::getpid as *const () as u64);
        assert!(libc.path.to_string_lossy().contains("libc"), "{libc:?}");
        assert!(!libc.is_program && libc.bias != own.bias);
        assert_eq!(Module::of(8), Module::default());
    }
}
