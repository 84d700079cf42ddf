//! The loader's list of loaded files, and the tables of each.
//!
//! The loader keeps its list locked during a visit, so that a file stays loaded meanwhile. Callers hold
//! [`LOOKING`](crate::listed::LOOKING).

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;

/// A file in the loader's list, during a visit.
pub(crate) struct Loaded<'a> {
    info: &'a libc::dl_phdr_info,
    headers: &'a [libc::Elf64_Phdr],
    /// The loader lists the program first.
    pub(crate) is_program: bool,
}

struct Visit<'a> {
    /// Answers whether to go on.
    each: &'a mut dyn FnMut(&Loaded<'_>) -> bool,
    first: bool,
}

/// Calls `each` with the loaded files until it answers false.
pub(crate) fn visit(each: &mut dyn FnMut(&Loaded<'_>) -> bool) {
    unsafe extern "C" fn next(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        visit: *mut c_void,
    ) -> c_int {
        // SAFETY: `visit` passes its `Visit`. The loader's record lives during the call.
        let (visit, info) = unsafe { (&mut *visit.cast::<Visit<'_>>(), &*info) };
        let is_program = std::mem::replace(&mut visit.first, false);
        if info.dlpi_phdr.is_null() {
            return 0;
        }
        // SAFETY: the loader gives the number of headers.
        let headers =
            unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        c_int::from(!(visit.each)(&Loaded { info, headers, is_program }))
    }

    let mut visit = Visit { each, first: true };
    // SAFETY: the callback gets this structure, and only during the call.
    unsafe { libc::dl_iterate_phdr(Some(next), (&raw mut visit).cast()) };
}

/// The loader's numbers of files: it changes its list with one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The files that it has loaded so far.
    pub(crate) loads: u64,
    unloads: u64,
}

impl Changes {
    /// Of no list.
    pub(crate) const NONE: Changes = Changes { loads: 0, unloads: 0 };
}

/// The name by which other files need a file, and the names of those that it needs.
#[derive(Debug, Default)]
pub(crate) struct NeededNames {
    pub(crate) own: Option<CString>,
    pub(crate) needed: Vec<CString>,
}

impl Loaded<'_> {
    /// The segments that the loader has mapped, with the flags of their access.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (Range<u64>, u32)> {
        let mapped = self.headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        mapped.map(|header| {
            let begin = self.info.dlpi_addr.wrapping_add(header.p_vaddr);
            (begin..begin.wrapping_add(header.p_memsz), header.p_flags)
        })
    }

    /// The addresses from the first segment to the end of the last one.
    pub(crate) fn span(&self) -> Range<u64> {
        let all = self.segments().map(|(segment, _)| segment);
        all.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
            .unwrap_or_default()
    }

    /// The difference between its addresses and those in its symbol table.
    pub(crate) fn bias(&self) -> u64 {
        self.info.dlpi_addr
    }

    /// The loader's name; empty for the program.
    pub(crate) fn name(&self) -> CString {
        // SAFETY: the loader's names are C strings.
        unsafe { CStr::from_ptr(self.info.dlpi_name) }.to_owned()
    }

    pub(crate) fn changes(&self) -> Changes {
        Changes { loads: self.info.dlpi_adds, unloads: self.info.dlpi_subs }
    }

    /// Whether a read-only segment has the C string `text`.
    pub(crate) fn has_text(&self, text: &CStr) -> bool {
        let is_constant = |flags: u32| flags & (libc::PF_R | libc::PF_W) == libc::PF_R;
        let constant = self.segments().filter(|(_, flags)| is_constant(*flags));
        let sought = text.to_bytes();
        constant.map(|(segment, _)| segment).any(|segment| {
            let length = (segment.end - segment.start) as usize;
            // SAFETY: the loader has mapped the segment, which is readable and never written to.
            let bytes = unsafe { std::slice::from_raw_parts(segment.start as *const u8, length) };
            bytes.windows(sought.len()).any(|part| part == sought)
        })
    }

    /// The note of the linker that tells builds apart.
    ///
    /// # Safety
    /// The file must be loaded.
    pub(crate) unsafe fn build_id(&self) -> Option<String> {
        let notes = self.headers.iter().filter(|header| header.p_type == libc::PT_NOTE);
        notes.filter(|header| header.p_align <= 4).find_map(|header| {
            let begin = self.info.dlpi_addr.wrapping_add(header.p_vaddr) as *const u8;
            // SAFETY: the loader has mapped the segment.
            let bytes = unsafe { std::slice::from_raw_parts(begin, header.p_memsz as usize) };
            build_id_among(bytes)
        })
    }

    /// Whether the loader never unloads the file, because its linker was told so.
    ///
    /// # Safety
    /// The file must be loaded.
    pub(crate) unsafe fn is_never_deleted(&self) -> bool {
        // SAFETY: the caller says so.
        let mut entries = unsafe { self.dynamic() };
        entries.any(|[tag, value]| tag == DT_FLAGS_1 && value & DF_1_NODELETE != 0)
    }

    /// # Safety
    /// The file must be loaded.
    pub(crate) unsafe fn needed_names(&self) -> NeededNames {
        // SAFETY: the caller says so.
        let entries = || unsafe { self.dynamic() };
        let Some([_, table]) = entries().find(|[tag, _]| *tag == DT_STRTAB) else {
            return NeededNames::default();
        };
        // The C library stores an address there, but not for the kernel's own file.
        let table = if table < self.bias() { table + self.bias() } else { table };
        // SAFETY: the linker's offsets of C strings in the table of strings.
        let text = |at: u64| unsafe { CStr::from_ptr((table + at) as *const c_char) }.to_owned();
        let all = |wanted: u64| entries().filter(move |[tag, _]| *tag == wanted);
        let names = |wanted: u64| all(wanted).map(|[_, at]| text(at));
        NeededNames { own: names(DT_SONAME).next(), needed: names(DT_NEEDED).collect() }
    }

    /// The address of its dynamic section.
    pub(crate) fn dynamic_section(&self) -> Option<u64> {
        let dynamic = self.headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC)?;
        Some(self.info.dlpi_addr.wrapping_add(dynamic.p_vaddr))
    }

    /// The tags and values of the dynamic section.
    ///
    /// # Safety
    /// The file must be loaded for as long as the answer is used.
    unsafe fn dynamic(&self) -> impl Iterator<Item = [u64; 2]> + use<> {
        let section = self.dynamic_section().into_iter();
        // SAFETY: the loader has read this section, which ends in an entry of zeros.
        let entries = section
            .flat_map(|at| (0..).map(move |entry| unsafe { *(at as *const [u64; 2]).add(entry) }));
        entries.take_while(|[tag, _]| *tag != 0)
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

// Tags of the ELF specification.
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_SONAME: u64 = 14;
const DT_FLAGS_1: u64 = 0x6fff_fffb;
const DF_1_NODELETE: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
