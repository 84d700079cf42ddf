//! Programs that trace threads themselves.
//!
//! A thread has one tracer at a time. A debugger or a leak checker fails on threads that this process traces, so
//! such a program is not traced: the kernel counts it with all that it makes.

use std::fs::File;
use std::path::Path;

use object::elf;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::read::{SectionIndex, StringTable};
use object::{Endianness, ReadCache};

/// Names in a program's table of dynamic symbols: the call itself, and the sanitizers that look for leaks.
const NAMES: [&[u8]; 4] = [b"ptrace", b"__asan_init", b"__lsan_init", b"__hwasan_init"];

/// Whether the program of a process traces threads, as far as its dynamic symbols show.
pub(super) fn traces(pid: i32) -> bool {
    has_any(Path::new(&format!("/proc/{pid}/exe")), &NAMES).unwrap_or(false)
}

fn has_any(path: &Path, wanted: &[&[u8]]) -> Option<bool> {
    let cache = &ReadCache::new(File::open(path).ok()?);
    let header = elf::FileHeader64::<Endianness>::parse(cache).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, cache).ok()?;
    let table = sections.iter().find(|one| one.sh_type(endian) == elf::SHT_DYNSYM)?;
    let symbols = table.data_as_array::<elf::Sym64<Endianness>, _>(endian, cache).ok()?;
    let names = sections.section(SectionIndex(table.sh_link(endian) as usize)).ok()?;
    let names = names.data(endian, cache).ok()?;
    let names = StringTable::new(names, 0, names.len() as u64);
    let is_wanted = |one: &elf::Sym64<Endianness>| {
        one.name(endian, names).is_ok_and(|name| wanted.contains(&name))
    };
    Some(symbols.iter().any(is_wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_shows_the_functions_that_it_calls() {
        let own = Path::new("/proc/self/exe");
        assert_eq!(has_any(own, &[b"no_such_function", b"waitpid"]), Some(true));
        assert_eq!(has_any(own, &[b"no_such_function"]), Some(false));
        assert_eq!(has_any(Path::new("/dev/null"), &NAMES), None);
    }
}
