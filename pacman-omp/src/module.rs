//! The loaded file that has an address.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use pacman_core::fork::Lock;

use crate::code::{Code, Tables};

/// The facts of a loaded file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Module {
    /// Empty for code outside of any file.
    pub(crate) path: PathBuf,
    /// The difference between its addresses and those in its symbol table.
    pub(crate) bias: u64,
    /// Bytes of its thread-local storage for each thread.
    pub(crate) thread_local: u64,
    /// Whether it is the program itself.
    pub(crate) is_program: bool,
}

/// A file in the loader's list, during a search.
struct Loaded<'a> {
    info: &'a libc::dl_phdr_info,
    headers: &'a [libc::Elf64_Phdr],
    is_program: bool,
}

struct Search<'a> {
    address: u64,
    found: &'a mut dyn FnMut(&Loaded<'_>),
    first: bool,
}

/// Held during a search. The loader has its own lock for its list, and the child of a fork would find
/// that lock taken.
pub(crate) static SEARCHING: Lock<()> = Lock::new(());
/// The program's own path. The loader's list does not have it.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

impl Module {
    /// The module that has `address` in one of its segments.
    pub(crate) fn of(address: u64) -> Module {
        let mut module = Module::default();
        with(address, &mut |loaded| module = loaded.module());
        module
    }

    /// The path and address of a loaded file whose name begins with one of `names`.
    pub(crate) fn named(names: &[&str]) -> Option<(PathBuf, u64)> {
        let maps = std::fs::read("/proc/self/maps").ok()?;
        maps.split(|&byte| byte == b'\n').find_map(|line| {
            let path = &line[line.iter().position(|&byte| byte == b'/')?..];
            let file = path.rsplit(|&byte| byte == b'/').next()?;
            let address = std::str::from_utf8(line.split(|&byte| byte == b'-').next()?).ok()?;
            let is_one = names.iter().any(|name| file.starts_with(name.as_bytes()));
            let path = PathBuf::from(OsStr::from_bytes(path));
            is_one.then_some((path, u64::from_str_radix(address, 16).ok()?))
        })
    }

    /// Whether the module that has `address` imports a function whose name `is_one` accepts. True if
    /// that is unknown. Functions that it looks up at run time do not count.
    pub(crate) fn imports(address: u64, is_one: impl Fn(&CStr) -> bool) -> bool {
        let mut imports = true;
        // SAFETY: the module stays loaded while the loader goes through its list.
        with(address, &mut |loaded| imports = unsafe { loaded.imports(&is_one) }.unwrap_or(true));
        imports
    }
}

/// Calls `act` with the code of the module that has `address`; `None` if no module has it as code. The
/// loader keeps its list locked meanwhile, so that the module stays loaded.
pub(crate) fn with_code<R>(address: u64, act: impl FnOnce(&Code<'_>) -> R) -> Option<R> {
    let (mut act, mut answer) = (Some(act), None);
    with(address, &mut |loaded| {
        // SAFETY: the module stays loaded while the loader goes through its list.
        let code = unsafe { loaded.code(address) };
        if let (Some(code), Some(act)) = (code, act.take()) {
            answer = Some(act(&code));
        }
    });
    answer
}

/// The build ID of the file that has `address`, in hexadecimal digits; `None` if it has none.
pub(crate) fn build_id(address: u64) -> Option<String> {
    let mut id = None;
    // SAFETY: the module stays loaded while the loader goes through its list.
    with(address, &mut |loaded| id = unsafe { loaded.build_id() });
    id
}

/// The address at which the program itself begins.
pub(crate) fn entry_of_program() -> u64 {
    // SAFETY: it reads what the kernel has left for the process.
    unsafe { libc::getauxval(libc::AT_ENTRY) }
}

/// Whether a loaded file whose name contains `name` has the C string `text` in a read-only segment.
pub(crate) fn has_text(name: &str, text: &CStr) -> bool {
    struct Sought<'a>(&'a [u8], &'a [u8], bool);

    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        sought: *mut c_void,
    ) -> c_int {
        // SAFETY: passed below. The loader's record and its name live during the call.
        let (Sought(name, text, found), info) =
            unsafe { (&mut *sought.cast::<Sought<'_>>(), &*info) };
        // SAFETY: as above.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
        if !path.windows(name.len()).any(|part| part == *name) || info.dlpi_phdr.is_null() {
            return 0;
        }
        for at in 0..usize::from(info.dlpi_phnum) {
            // SAFETY: the loader gives the number of headers, and has mapped readable segments.
            let bytes = unsafe {
                let header = &*info.dlpi_phdr.add(at);
                let is_constant = header.p_flags & (libc::PF_R | libc::PF_W) == libc::PF_R;
                if header.p_type != libc::PT_LOAD || !is_constant {
                    continue;
                }
                let begin = info.dlpi_addr.wrapping_add(header.p_vaddr) as *const u8;
                std::slice::from_raw_parts(begin, header.p_filesz as usize)
            };
            *found |= bytes.windows(text.len()).any(|part| part == *text);
        }
        0
    }

    let mut sought = Sought(name.as_bytes(), text.to_bytes(), false);
    let _one = SEARCHING.lock();
    // SAFETY: the callback gets this structure, and only during the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut sought).cast()) };
    sought.2
}

/// Calls `found` with the file that has `address` in one of its segments.
fn with(address: u64, found: &mut dyn FnMut(&Loaded<'_>)) {
    let mut search = Search { address, found, first: true };
    let _one = SEARCHING.lock();
    // SAFETY: the callback gets this structure, and only during the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: `with` passes its `Search`. The loader's record lives during the call.
    let (search, info) = unsafe { (&mut *search.cast::<Search<'_>>(), &*info) };
    // The loader lists the program first, under an empty name.
    let is_program = std::mem::replace(&mut search.first, false);
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader gives the number of headers.
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
    (search.found)(&Loaded { info, headers, is_program });
    1
}

impl Loaded<'_> {
    fn module(&self) -> Module {
        let thread_local = self.headers.iter().filter(|header| header.p_type == libc::PT_TLS);
        let path = if self.is_program {
            // A search holds `SEARCHING`, so a fork never finds the path half made.
            PROGRAM.get_or_init(|| std::fs::read_link("/proc/self/exe").unwrap_or_default()).clone()
        } else {
            // SAFETY: the loader's names are C strings.
            let name = unsafe { CStr::from_ptr(self.info.dlpi_name) };
            PathBuf::from(OsStr::from_bytes(name.to_bytes()))
        };
        Module {
            path,
            bias: self.info.dlpi_addr,
            thread_local: thread_local.map(|header| header.p_memsz).sum(),
            is_program: self.is_program,
        }
    }

    /// The note of the linker that tells builds apart.
    ///
    /// # Safety
    /// The file must be loaded.
    unsafe fn build_id(&self) -> Option<String> {
        let notes = self.headers.iter().filter(|header| header.p_type == libc::PT_NOTE);
        notes.filter(|header| header.p_align <= 4).find_map(|header| {
            let begin = self.info.dlpi_addr.wrapping_add(header.p_vaddr) as *const u8;
            // SAFETY: the loader has mapped the segment.
            let bytes = unsafe { std::slice::from_raw_parts(begin, header.p_memsz as usize) };
            build_id_among(bytes)
        })
    }

    /// Searches the symbols of all relocations: every use of another file's function has one.
    ///
    /// # Safety
    /// The file must be loaded.
    unsafe fn imports(&self, is_one: &impl Fn(&CStr) -> bool) -> Option<bool> {
        // SAFETY: the caller says so.
        Some(unsafe { self.relocations() }?.any(|(.., name)| is_one(name)))
    }

    /// The relocations that name a symbol: the type, the address of the word that the loader sets, and the
    /// name.
    ///
    /// # Safety
    /// The file must be loaded for as long as the answer is used.
    unsafe fn relocations(&self) -> Option<impl Iterator<Item = (u32, u64, &CStr)>> {
        let bias = self.info.dlpi_addr;
        let dynamic = self.headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
        let mut entry = (bias + dynamic.p_vaddr) as *const [u64; 2];
        let (mut symbols, mut strings) = (0, 0);
        let (mut tables, mut lengths) = ([0; 2], [0; 2]);
        // SAFETY: the loader has read this section, which ends in an entry of zeros.
        unsafe {
            while (*entry)[0] != 0 {
                let [tag, value] = *entry;
                // In a writable section the loader has replaced offsets by addresses.
                let address = if value < bias { value + bias } else { value };
                match tag {
                    DT_SYMTAB => symbols = address,
                    DT_STRTAB => strings = address,
                    DT_RELA => tables[0] = address,
                    DT_RELASZ => lengths[0] = value,
                    DT_JMPREL => tables[1] = address,
                    DT_PLTRELSZ => lengths[1] = value,
                    _ => {}
                }
                entry = entry.add(1);
            }
        }
        if symbols == 0 || strings == 0 {
            return None;
        }
        let used = tables.into_iter().zip(lengths).flat_map(|(table, length)| {
            let table = table as *const libc::Elf64_Rela;
            // SAFETY: the table has `length` bytes.
            (0..length as usize / size_of::<libc::Elf64_Rela>()).map(move |at| unsafe {
                let relocation = &*table.add(at);
                (relocation.r_info as u32, relocation.r_offset, relocation.r_info >> 32)
            })
        });
        // Symbol 0 stands for none.
        let named = used.filter(|(.., number)| *number != 0).map(move |(kind, offset, number)| {
            // SAFETY: relocations name symbols of the file's table, whose names are C strings.
            let name = unsafe {
                let symbol = (symbols as *const libc::Elf64_Sym).add(number as usize);
                CStr::from_ptr((strings + u64::from((*symbol).st_name)) as *const c_char)
            };
            (kind, bias.wrapping_add(offset), name)
        });
        Some(named)
    }

    /// The code of the segment that has `address`, with the functions that it calls.
    ///
    /// # Safety
    /// The file must be loaded for as long as the answer is used.
    unsafe fn code(&self, address: u64) -> Option<Code<'_>> {
        let start = |header: &libc::Elf64_Phdr| self.info.dlpi_addr.wrapping_add(header.p_vaddr);
        // SAFETY: the loader has mapped the segments, and these are not written to.
        let segment = |header: &libc::Elf64_Phdr| unsafe {
            let bytes = header.p_filesz as usize;
            (start(header), std::slice::from_raw_parts(start(header) as *const u8, bytes))
        };
        let is_constant = |header: &&libc::Elf64_Phdr| {
            header.p_type == libc::PT_LOAD
                && header.p_flags & (libc::PF_R | libc::PF_W) == libc::PF_R
        };
        let segments: Vec<_> = self.headers.iter().filter(is_constant).collect();
        let code = segments.iter().find(|header| {
            header.p_flags & libc::PF_X != 0
                && (start(header)..start(header) + header.p_filesz).contains(&address)
        })?;
        let (start_of_code, bytes) = segment(code);
        // SAFETY: the caller says so.
        let named = unsafe { self.relocations() }?;
        // Other words with the address of a function are variables, which the program may change.
        let slots =
            named.filter(|(kind, ..)| [R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT].contains(kind));
        let mut imports: Vec<_> = slots.map(|(_, slot, name)| (slot, name)).collect();
        imports.sort_unstable_by_key(|(slot, _)| *slot);
        let header = self.headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME);
        let handlers = header.map(|header| Tables {
            segments: segments.iter().map(|header| segment(header)).collect(),
            header: start(header),
        });
        Some(Code { bytes, start: start_of_code, imports, handlers })
    }
}

/// The build ID among ELF notes: each has the lengths of its name and content, its type, and both.
fn build_id_among(mut notes: &[u8]) -> Option<String> {
    const NT_GNU_BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_first_chunk::<12>()?;
        let word =
            |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (name, content) = (word(0) as usize, word(4) as usize);
        let begin = name.checked_next_multiple_of(4)?;
        let end = begin.checked_add(content)?;
        let id = rest.get(begin..end)?;
        if word(8) == NT_GNU_BUILD_ID && rest.get(..name) == Some(b"GNU\0") && !id.is_empty() {
            return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = rest.get(end.checked_next_multiple_of(4)?..)?;
    }
}

// Types of relocations of the System V ABI for x86-64.
const R_X86_64_GLOB_DAT: u32 = 6;
const R_X86_64_JUMP_SLOT: u32 = 7;

// Tags of the ELF specification.
const DT_PLTRELSZ: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_module_that_contains_it() {
        let own = Module::of(Module::of as fn(u64) -> Module as usize as u64);
        assert_eq!(own.path, std::env::current_exe().unwrap());
        assert!(own.is_program && own.thread_local > 0, "the test harness has thread-locals");
        let libc = Module::of(libc::getpid as *const () as u64);
        assert!(libc.path.to_string_lossy().contains("libc"), "{libc:?}");
        assert!(!libc.is_program && libc.bias != own.bias);
        assert_eq!(Module::of(8), Module::default());
    }

    #[test]
    fn a_build_id_is_found_behind_other_notes() {
        let note = |kind: u32, name: &[u8], content: &[u8]| {
            let mut note = Vec::new();
            for word in [name.len() as u32, content.len() as u32, kind] {
                note.extend(word.to_ne_bytes());
            }
            for part in [name, content] {
                note.extend(part);
                note.resize(note.len().next_multiple_of(4), 0);
            }
            note
        };
        let id = note(3, b"GNU\0", &[0x0f, 0xa0, 0x01]);
        let other = [note(1, b"GNU\0", &[9; 16]), note(3, b"else\0", &[7; 5])].concat();
        assert_eq!(build_id_among(&[&other[..], &id[..]].concat()).as_deref(), Some("0fa001"));
        assert_eq!(build_id_among(&other), None);
        for length in 0..id.len() - 1 {
            assert_eq!(build_id_among(&id[..length]), None, "{length}");
        }
        let libc = build_id(libc::getpid as *const () as u64).expect("Debian's has one");
        assert!(libc.len() >= 16 && libc.bytes().all(|digit| digit.is_ascii_hexdigit()), "{libc}");
        assert_eq!(Module::of(entry_of_program()).path, std::env::current_exe().unwrap());
    }

    #[test]
    fn loaded_files_are_found_by_the_start_of_their_names() {
        let (path, address) = Module::named(&["libgomp.so", "libc.so"]).expect("it has a libc");
        let libc = Module::of(libc::getpid as *const () as u64);
        assert_eq!(libc.path.file_name(), path.file_name());
        assert_eq!(Module::of(address).bias, libc.bias);
        assert_eq!(Module::named(&["libgomp.so"]), None, "this test has no runtime");
    }

    #[test]
    fn imports_of_a_module_are_found_by_name() {
        let own = Module::of as fn(u64) -> Module as usize as u64;
        assert!(Module::imports(own, |name| name == c"dl_iterate_phdr"), "called above");
        assert!(!Module::imports(own, |name| name == c"omp_get_thread_num"));
        assert!(Module::imports(8, |_| false), "nothing is known about code outside of modules");
    }
}
