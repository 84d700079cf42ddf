//! Headers and dynamic symbols of ELF files: the machine that they are for, whether libraries can be loaded into them, and
//! the functions that they call.

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, Sym};
use object::read::{ReadRef, SectionIndex, StringTable};
use object::{Endianness, FileKind, Object as _, ReadCache};
use pacman_report::run::names::hexadecimal;

/// The facts of a file's header and program headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) bits: u8,
    pub(crate) machine: u16,
    /// A shared object, or a program that can be loaded anywhere.
    pub(crate) is_relocatable: bool,
    /// It names a dynamic linker.
    pub(crate) has_interpreter: bool,
    /// It is a dynamic linker, which loads the program that its arguments name: a library that names itself as
    /// one, and no other linker. A static program has no name for the use of others.
    pub(crate) is_linker: bool,
}

/// Reads the header; `None` for a file that is not ELF, or that is broken.
pub(crate) fn header(path: &Path) -> Option<Header> {
    let cache = ReadCache::new(File::open(path).ok()?);
    match FileKind::parse(&cache).ok()? {
        FileKind::Elf32 => read::<elf::FileHeader32<Endianness>>(&cache, 32),
        FileKind::Elf64 => read::<elf::FileHeader64<Endianness>>(&cache, 64),
        _ => None,
    }
}

fn read<H: FileHeader<Endian = Endianness>>(cache: &ReadCache<File>, bits: u8) -> Option<Header> {
    let header = H::parse(cache).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, cache).ok()?;
    let has_interpreter = segments.iter().any(|one| one.p_type(endian) == elf::PT_INTERP);
    let mut entries = segments.iter().filter_map(|one| one.dynamic(endian, cache).ok()?).flatten();
    let is_named = entries.any(|entry| entry.tag32(endian) == Some(elf::DT_SONAME));
    Some(Header {
        bits,
        machine: header.e_machine(endian),
        is_relocatable: header.e_type(endian) == elf::ET_DYN,
        has_interpreter,
        is_linker: !has_interpreter && is_named,
    })
}

/// The build ID of a file, in hexadecimal digits; `None` without one.
pub(crate) fn build_id(path: &Path) -> Option<String> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok()?;
    Some(hexadecimal(file.build_id().ok()??))
}

/// Whether a 64-bit file has one of these names among its dynamic symbols: those that it exports, and those that it takes
/// from elsewhere. `None` for a file without such a table.
pub(crate) fn has_symbol(path: &Path, names: &[&[u8]]) -> Option<bool> {
    let cache = ReadCache::new(File::open(path).ok()?);
    Some(symbol(&cache, names)?.is_some())
}

/// The number that `name` names in a 64-bit shared object; `None` if it exports no such number.
pub(crate) fn exported_number(path: &Path, name: &str) -> Option<u32> {
    let cache = &ReadCache::new(File::open(path).ok()?);
    let address = symbol(cache, &[name.as_bytes()])??;
    let header = elf::FileHeader64::<Endianness>::parse(cache).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, cache).ok()?;
    let at = segments.iter().filter(|one| one.p_type(endian) == elf::PT_LOAD).find_map(|one| {
        let within = address.checked_sub(one.p_vaddr(endian))?;
        let is_inside = within.checked_add(4)? <= one.p_filesz(endian);
        is_inside.then(|| one.p_offset(endian).checked_add(within))?
    })?;
    let bytes = cache.read_bytes_at(at, 4).ok()?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// The value of the first dynamic symbol with one of these names; `None` without a table of them.
///
/// Reads that table, and not the segments and names that `object`'s own search reads.
fn symbol(cache: &ReadCache<File>, wanted: &[&[u8]]) -> Option<Option<u64>> {
    let header = elf::FileHeader64::<Endianness>::parse(cache).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, cache).ok()?;
    let table = sections.iter().find(|one| one.sh_type(endian) == elf::SHT_DYNSYM)?;
    let symbols = table.data_as_array::<elf::Sym64<Endianness>, _>(endian, cache).ok()?;
    let names = sections.section(SectionIndex(table.sh_link(endian) as usize)).ok()?;
    let names = names.data(endian, cache).ok()?;
    let names = StringTable::new(names, 0, names.len() as u64);
    let is_wanted = |one: &&elf::Sym64<Endianness>| {
        one.name(endian, names).is_ok_and(|name| wanted.contains(&name))
    };
    Some(symbols.iter().find(is_wanted).map(|one| one.st_value(endian)))
}

/// The machine that this command, and the library beside it, was compiled for.
pub(crate) fn own() -> Option<Header> {
    static OWN: OnceLock<Option<Header>> = OnceLock::new();
    *OWN.get_or_init(|| header(Path::new("/proc/self/exe")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_shows_the_functions_that_it_calls() {
        let own = Path::new("/proc/self/exe");
        assert_eq!(has_symbol(own, &[b"no_such_function", b"waitpid"]), Some(true));
        assert_eq!(has_symbol(own, &[b"no_such_function"]), Some(false));
        assert_eq!(has_symbol(Path::new("/dev/null"), &[b"waitpid"]), None);
    }
}
