//! Headers of ELF files: the machine that they are for, and whether libraries can be loaded into
//! them.

use std::fs::File;
use std::path::Path;

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object, ObjectSegment, ObjectSymbol, ReadCache};

/// The facts of a file's header and program headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(super) bits: u8,
    pub(super) machine: u16,
    /// A shared object, or a program that can be loaded anywhere.
    pub(super) is_relocatable: bool,
    /// It names a dynamic linker.
    pub(super) has_interpreter: bool,
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
    Some(Header {
        bits,
        machine: header.e_machine(endian),
        is_relocatable: header.e_type(endian) == elf::ET_DYN,
        has_interpreter: segments.iter().any(|one| one.p_type(endian) == elf::PT_INTERP),
    })
}

/// The number that `symbol` names in a shared object; `None` if it exports no such number.
pub(super) fn exported_number(path: &Path, symbol: &str) -> Option<u32> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok()?;
    let found = file.dynamic_symbols().find(|one| one.name() == Ok(symbol))?;
    let bytes = file.segments().find_map(|one| one.data_range(found.address(), 4).ok()?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// The machine that this command, and the library beside it, was compiled for.
pub(super) fn own() -> Option<Header> {
    header(Path::new("/proc/self/exe"))
}
