//! Lines of code, from the line programs of DWARF.
//!
//! A line program is a list of some ten thousand instructions that must be decoded from its start. With addr2line
//! that was 60 % of the instructions of `run` for NPB-CPP's LU of class S, which runs for 12 ms. Whatever this
//! does not know is left to addr2line.

use std::borrow::Cow;

use addr2line::gimli::{self, DebugInfoOffset, EndianSlice, Reader as _, RunTimeEndian, UnitRef};
use object::{Object as _, ObjectSection as _};

/// The lines of the units that were asked for.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The tables of units, by the offset of the unit's header.
    tables: Vec<(usize, Table)>,
    /// The units by their ranges of code, with the offset of the header.
    units: Option<Vec<(u64, u64, usize)>>,
}

/// File and line of an address.
pub(super) type Place = (String, Option<u32>);

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The line program of one unit.
#[derive(Debug, Default)]
struct Table {
    files: Vec<String>,
    /// In the order of their starts.
    sequences: Vec<Sequence>,
}

#[derive(Debug)]
struct Sequence {
    end: u64,
    /// By address, at least one.
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    address: u64,
    file: u32,
    line: u32,
}

impl Lines {
    /// The place of the code at `address` of a file with that content. `None` where addr2line shall look.
    pub(super) fn place_of(&mut self, content: &[u8], address: u64) -> Option<Place> {
        if self.units.is_none() {
            self.units = Some(Vec::new());
            // A file whose information is damaged has no more units.
            let _: Option<()> = with_dwarf(content, |dwarf| self.read(dwarf, address));
        }
        let units = self.units.as_deref().unwrap_or_default();
        let (.., offset) = *units.iter().find(|(from, to, _)| (*from..*to).contains(&address))?;
        if self.tables.iter().all(|(known, _)| *known != offset) {
            let table = with_dwarf(content, |dwarf| {
                let header = dwarf.debug_info.header_from_offset(DebugInfoOffset(offset)).ok()?;
                Table::of(dwarf.unit(header).ok()?.unit_ref(dwarf))
            });
            // One that cannot be decoded is empty.
            self.tables.push((offset, table.unwrap_or_default()));
        }
        let (_, table) = self.tables.iter().find(|(known, _)| *known == offset)?;
        table.place_of(address)
    }

    /// Notes all units, and decodes the one with the address: it is open already.
    fn read(&mut self, dwarf: &gimli::Dwarf<Slice<'_>>, address: u64) -> Option<()> {
        let units = self.units.get_or_insert_default();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next().ok()? {
            let Some(offset) = header.offset().as_debug_info_offset() else { continue };
            let unit = dwarf.unit(header).ok()?;
            let unit = unit.unit_ref(dwarf);
            let mut ranges = unit.unit_ranges().ok()?;
            let mut has_address = false;
            while let Some(range) = ranges.next().ok()? {
                has_address |= (range.begin..range.end).contains(&address);
                units.push((range.begin, range.end, offset.0));
            }
            if has_address && self.tables.is_empty() {
                self.tables.push((offset.0, Table::of(unit).unwrap_or_default()));
            }
        }
        Some(())
    }
}

/// Calls `act` with the debug information of a file.
fn with_dwarf<R>(
    content: &[u8],
    act: impl FnOnce(&gimli::Dwarf<Slice<'_>>) -> Option<R>,
) -> Option<R> {
    let file = object::File::parse(content).ok()?;
    let endian = match file.is_little_endian() {
        true => RunTimeEndian::Little,
        false => RunTimeEndian::Big,
    };
    let load = |id: gimli::SectionId| -> Result<Cow<'_, [u8]>, object::Error> {
        match file.section_by_name(id.name()) {
            Some(section) => section.uncompressed_data(),
            None => Ok(Cow::Borrowed(&[])),
        }
    };
    let sections = gimli::DwarfSections::load(load).ok()?;
    act(&sections.borrow(|section| EndianSlice::new(section, endian)))
}

impl Table {
    /// `None` if addr2line shall read it.
    fn of(unit: UnitRef<'_, Slice<'_>>) -> Option<Table> {
        let program = unit.line_program.clone()?;
        let header = program.header();
        let encoding = header.line_encoding();
        // Split information has its lines elsewhere.
        if unit.dwo_id.is_some()
            || encoding.maximum_operations_per_instruction != 1
            || encoding.line_range == 0
            || header.address_size() != 8
        {
            return None;
        }
        let arguments = header.standard_opcode_lengths().slice().to_vec();
        let mut decoder = Decoder {
            code: Code(header.raw_program_buf().slice()),
            is_little_endian: header.raw_program_buf().endian() == RunTimeEndian::Little,
            encoding,
            first_special: header.opcode_base(),
            arguments,
        };
        let mut sequences = decoder.sequences()?;
        sequences.sort_by_key(|sequence| sequence.rows[0].address);
        let mut files = Vec::new();
        // Version 4 and older need not have file 0.
        files.push(header.file(0).map_or(Some(String::new()), |file| path(unit, file, header))?);
        while let Some(file) = header.file(files.len() as u64) {
            files.push(path(unit, file, header)?);
        }
        Some(Table { files, sequences })
    }

    fn place_of(&self, address: u64) -> Option<Place> {
        let after = self.sequences.partition_point(|one| one.rows[0].address <= address);
        let sequence = self.sequences.get(after.checked_sub(1)?)?;
        if address >= sequence.end {
            return None;
        }
        let after = sequence.rows.partition_point(|row| row.address <= address);
        let row = sequence.rows.get(after.checked_sub(1)?)?;
        // Line 0 is code that the compiler added.
        Some((self.files.get(row.file as usize)?.clone(), Some(row.line).filter(|line| *line > 0)))
    }
}

/// A line program.
struct Decoder<'a> {
    code: Code<'a>,
    is_little_endian: bool,
    encoding: gimli::LineEncoding,
    first_special: u8,
    /// The number of arguments of each standard instruction, from the first one on.
    arguments: Vec<u8>,
}

impl Decoder<'_> {
    /// `None` at something unknown.
    fn sequences(&mut self) -> Option<Vec<Sequence>> {
        const START: Row = Row { address: 0, file: 1, line: 1 };
        let least = u64::from(self.encoding.minimum_instruction_length);
        let (base, range) = (self.encoding.line_base, self.encoding.line_range);
        let (mut sequences, mut rows, mut state) = (Vec::new(), Vec::<Row>::new(), START);
        let add = |rows: &mut Vec<Row>, row: Row| match rows.last_mut() {
            // The last row of an address is valid.
            Some(last) if last.address == row.address => *last = row,
            _ => rows.push(row),
        };
        while !self.code.0.is_empty() {
            let code = self.code.byte()?;
            if code >= self.first_special {
                let advance = code - self.first_special;
                state.address = state.address.wrapping_add(u64::from(advance / range) * least);
                let by = i32::from(base) + i32::from(advance % range);
                state.line = state.line.wrapping_add_signed(by);
                add(&mut rows, state);
                continue;
            }
            match gimli::DwLns(code) {
                gimli::DwLns(0) => {
                    let length = usize::try_from(self.code.unsigned()?).ok()?;
                    let mut body = self.code.take(length)?;
                    match gimli::DwLne(body.byte()?) {
                        gimli::DW_LNE_end_sequence => {
                            if !rows.is_empty() {
                                let rows = std::mem::take(&mut rows);
                                sequences.push(Sequence { end: state.address, rows });
                            }
                            state = START;
                        }
                        gimli::DW_LNE_set_address => state.address = self.number(body)?,
                        gimli::DW_LNE_set_discriminator => {}
                        _ => return None,
                    }
                }
                gimli::DW_LNS_copy => add(&mut rows, state),
                gimli::DW_LNS_advance_pc => {
                    let advance = self.code.unsigned()?.wrapping_mul(least);
                    state.address = state.address.wrapping_add(advance);
                }
                gimli::DW_LNS_advance_line => {
                    let by = i32::try_from(self.code.signed()?).ok()?;
                    state.line = state.line.wrapping_add_signed(by);
                }
                gimli::DW_LNS_set_file => {
                    state.file = u32::try_from(self.code.unsigned()?).ok()?;
                }
                gimli::DW_LNS_const_add_pc => {
                    let advance = u64::from((255 - self.first_special) / range) * least;
                    state.address = state.address.wrapping_add(advance);
                }
                gimli::DW_LNS_fixed_advance_pc => {
                    let advance = self.code.take(2)?;
                    state.address = state.address.wrapping_add(self.number(advance)?);
                }
                gimli::DW_LNS_set_column => drop(self.code.unsigned()?),
                gimli::DW_LNS_negate_stmt => {}
                // Blocks, and instructions of later versions.
                _ => {
                    for _ in 0..*self.arguments.get(usize::from(code) - 1)? {
                        self.code.unsigned()?;
                    }
                }
            }
        }
        Some(sequences)
    }
}

impl Decoder<'_> {
    /// A number of all bytes.
    fn number(&self, bytes: Code<'_>) -> Option<u64> {
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        (bytes.0.len() <= 8).then(|| match self.is_little_endian {
            true => bytes.0.iter().rev().fold(0, add),
            false => bytes.0.iter().fold(0, add),
        })
    }
}

/// Bytes that are not decoded yet.
struct Code<'a>(&'a [u8]);

impl<'a> Code<'a> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, length: usize) -> Option<Code<'a>> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(Code(taken))
    }

    /// An unsigned number in LEB128.
    #[inline]
    fn unsigned(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ 0..=0x7f => Some(small.into()),
            first => self.rest_of(first).map(|(number, ..)| number),
        }
    }

    /// A signed number in LEB128.
    #[inline]
    fn signed(&mut self) -> Option<i64> {
        let (number, bits) = match self.byte()? {
            small @ 0..=0x7f => (u64::from(small), 7),
            first => self.rest_of(first)?,
        };
        let unused = 64u32.saturating_sub(bits);
        Some((number << unused) as i64 >> unused)
    }

    /// A number of several bytes, and its bits. `None` beyond 64 bits.
    fn rest_of(&mut self, first: u8) -> Option<(u64, u32)> {
        let (mut number, mut bits) = (u64::from(first & 0x7f), 7);
        loop {
            let byte = self.byte()?;
            if bits >= 63 {
                return None;
            }
            number |= u64::from(byte & 0x7f) << bits;
            bits += 7;
            if byte < 0x80 {
                return Some((number, bits));
            }
        }
    }
}

/// A file's path as addr2line writes it.
fn path<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    file: &gimli::FileEntry<Slice<'a>>,
    header: &gimli::LineProgramHeader<Slice<'a>>,
) -> Option<String> {
    let mut path = unit.comp_dir.map_or_else(String::new, |own| own.to_string_lossy().into_owned());
    let mut push = |part: Slice<'a>| {
        let part = part.to_string_lossy();
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(&part);
    };
    // Directory 0 is that of the compilation.
    if file.directory_index() != 0 {
        if let Some(directory) = file.directory(header) {
            push(unit.attr_string(directory).ok()?);
        }
    }
    push(unit.attr_string(file.path_name()).ok()?);
    Some(path)
}
