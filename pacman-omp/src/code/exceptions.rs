//! Finds the code that continues after an exception in a call, from the tables of the C++ ABI.
//!
//! The search table in `.eh_frame_hdr` has a description (FDE) for each function, which names the
//! function's call sites and their handlers (LSDA). Only the encodings of GCC and clang for x86-64 are
//! known; a table in any other encoding is an error, so that no handler is missed.

use iced_x86::Instruction;

use super::callee::{Code, Tables};

type Found<T> = Result<T, &'static str>;

const UNKNOWN: &str = "the table of exception handlers is not in a known form";

/// The handlers of one function at a time.
pub(super) struct Handlers<'a> {
    tables: Option<Tables<'a>>,
    /// The function that was looked up last.
    latest: Option<Function>,
}

struct Function {
    begin: u64,
    end: u64,
    /// The begin and end of call sites, and their handlers.
    sites: Vec<(u64, u64, u64)>,
}

impl<'a> Handlers<'a> {
    pub(super) fn of(code: &Code<'a>) -> Handlers<'a> {
        Handlers { tables: code.handlers.clone(), latest: None }
    }

    /// The handler of a call, if it has one.
    pub(super) fn of_call(&mut self, call: &Instruction) -> Found<Option<u64>> {
        let Some(tables) = &self.tables else { return Ok(None) };
        let at = call.ip();
        let is_in = |function: &Function| (function.begin..function.end).contains(&at);
        if !self.latest.as_ref().is_some_and(is_in) {
            self.latest = tables.function(at)?;
        }
        let Some(function) = self.latest.as_ref().filter(|function| is_in(function)) else {
            return Ok(None);
        };
        let site = function.sites.iter().find(|(begin, end, _)| (*begin..*end).contains(&at));
        Ok(site.map(|(.., handler)| *handler))
    }
}

impl<'a> Tables<'a> {
    fn reader(&self, at: u64) -> Found<Reader<'a>> {
        let bytes = self.segments.iter().find_map(|(start, bytes)| {
            let offset = usize::try_from(at.checked_sub(*start)?).ok()?;
            bytes.get(offset..).filter(|rest| !rest.is_empty())
        });
        bytes.map(|bytes| Reader { bytes, at }).ok_or(UNKNOWN)
    }

    /// The first instruction of the function that has the address, if the tables describe the function.
    /// Separate parts of a function have descriptions of their own.
    pub(super) fn function_begin(&self, address: u64) -> Found<Option<u64>> {
        let function = self.function(address)?;
        let is_in = |function: &Function| (function.begin..function.end).contains(&address);
        Ok(function.filter(is_in).map(|function| function.begin))
    }

    /// The description of the last function that begins at or before the address.
    fn function(&self, address: u64) -> Found<Option<Function>> {
        let mut header = self.reader(self.header)?;
        // Version 1; entries are pairs of 32 bits, relative to the header.
        let encodings = [header.byte()?, header.byte()?, header.byte()?, header.byte()?];
        if encodings[0] != 1 || encodings[2..] != [0x03, 0x3b] {
            return Err(UNKNOWN);
        }
        header.pointer(encodings[1])?;
        let count = header.word()? as usize;
        let entries = header.bytes.get(..count.saturating_mul(8)).ok_or(UNKNOWN)?;
        let field = |entry: usize, half: usize| {
            let at = entry * 8 + half * 4;
            let bytes = [entries[at], entries[at + 1], entries[at + 2], entries[at + 3]];
            self.header.wrapping_add_signed(i64::from(i32::from_le_bytes(bytes)))
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if field(middle, 0) <= address { low = middle + 1 } else { high = middle }
        }
        let Some(entry) = low.checked_sub(1) else { return Ok(None) };
        self.described(field(entry, 1)).map(Some)
    }

    /// The function of a description.
    fn described(&self, at: u64) -> Found<Function> {
        let mut fde = self.reader(at)?;
        if fde.word()? == u32::MAX {
            return Err(UNKNOWN);
        }
        let of_common = fde.at;
        let common = of_common.wrapping_sub(u64::from(fde.word()?));
        let common = self.common(common)?;
        let begin = fde.pointer(common.addresses)?;
        // The length has the format of the address, but is an absolute number.
        let length = fde.pointer(common.addresses & 0x0f)?;
        let end = begin.wrapping_add(length);
        fde.unsigned()?;
        let sites = match common.handlers {
            Some(encoding) => match fde.pointer(encoding)? {
                0 => Vec::new(),
                table => self.sites(table, begin)?,
            },
            None => Vec::new(),
        };
        Ok(Function { begin, end, sites })
    }

    /// The encodings that a common description (CIE) sets.
    fn common(&self, at: u64) -> Found<Common> {
        let mut cie = self.reader(at)?;
        let (_length, _id, version) = (cie.word()?, cie.word()?, cie.byte()?);
        let mut letters = Vec::new();
        loop {
            match cie.byte()? {
                0 => break,
                letter => letters.push(letter),
            }
        }
        if version != 1 || letters.first() != Some(&b'z') {
            return Err(UNKNOWN);
        }
        // The alignment factors, the register of the return address, the length.
        cie.unsigned()?;
        cie.unsigned()?;
        cie.byte()?;
        cie.unsigned()?;
        let mut common = Common { addresses: 0, handlers: None };
        for letter in &letters[1..] {
            match letter {
                b'L' => common.handlers = Some(cie.byte()?),
                b'R' => common.addresses = cie.byte()?,
                b'P' => {
                    let encoding = cie.byte()?;
                    // The personality is reached through a pointer, which need not be read.
                    cie.pointer(encoding & 0x7f)?;
                }
                b'S' => {}
                _ => return Err(UNKNOWN),
            }
        }
        Ok(common)
    }

    /// The call sites of a table that have handlers.
    fn sites(&self, at: u64, function: u64) -> Found<Vec<(u64, u64, u64)>> {
        const OMITTED: u8 = 0xff;
        let mut table = self.reader(at)?;
        let base = match table.byte()? {
            OMITTED => function,
            encoding => table.pointer(encoding)?,
        };
        if table.byte()? != OMITTED {
            table.unsigned()?;
        }
        let encoding = table.byte()?;
        let length = table.unsigned()?;
        let end = table.at.wrapping_add(length);
        let mut sites = Vec::new();
        while table.at < end {
            let mut offset = || match encoding {
                0x01 => table.unsigned(),
                0x03 => table.word().map(u64::from),
                _ => Err(UNKNOWN),
            };
            let (begin, length, handler) = (offset()?, offset()?, offset()?);
            table.unsigned()?;
            if handler != 0 {
                let begin = function.wrapping_add(begin);
                sites.push((begin, begin.wrapping_add(length), base.wrapping_add(handler)));
            }
        }
        Ok(sites)
    }
}

struct Common {
    addresses: u8,
    handlers: Option<u8>,
}

/// Reads a table from front to back.
struct Reader<'a> {
    bytes: &'a [u8],
    /// The address of the next byte.
    at: u64,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Found<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or(UNKNOWN)?;
        (self.bytes, self.at) = (rest, self.at.wrapping_add(N as u64));
        Ok(*taken)
    }

    fn byte(&mut self) -> Found<u8> {
        Ok(self.take::<1>()?[0])
    }

    fn word(&mut self) -> Found<u32> {
        self.take().map(u32::from_le_bytes)
    }

    /// A number of 7 bits a byte (ULEB128).
    fn unsigned(&mut self) -> Found<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(UNKNOWN)
    }

    /// A pointer of that encoding; 0 stands for none.
    fn pointer(&mut self, encoding: u8) -> Found<u64> {
        let place = self.at;
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => u64::from_le_bytes(self.take()?),
            0x03 => u64::from(self.word()?),
            0x0b => i64::from(i32::from_le_bytes(self.take()?)) as u64,
            _ => return Err(UNKNOWN),
        };
        match encoding & 0xf0 {
            _ if value == 0 => Ok(0),
            0x00 => Ok(value),
            0x10 => Ok(place.wrapping_add(value)),
            _ => Err(UNKNOWN),
        }
    }
}
