//! The callers of a thread that is in a system call, by the unwind tables of the files whose code it is in.
//!
//! Of the registers `/proc` shows only the program counter and the stack pointer. The frame pointer is known once a
//! frame has saved it. So a caller is known for sure, or not at all.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use gimli::{BaseAddresses, CfaRule, EhFrame, EndianSlice, NativeEndian, Register, RegisterRule};
use gimli::{UnwindContext, UnwindSection, X86_64};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSegment};

/// A part of a file that is mapped with its code.
struct Mapping {
    from: u64,
    to: u64,
    offset: u64,
    name: String,
}

/// The code of a process, and a thread of it.
pub(crate) struct Stack {
    thread: u32,
    code: Vec<Mapping>,
    memory: File,
}

/// Facts of the files, for all processes.
#[derive(Default)]
pub(crate) struct Tables {
    files: HashMap<String, Option<Vec<u8>>>,
    /// By file and place in it.
    steps: HashMap<(String, u64), Option<Step>>,
}

/// How a frame leads to the one of its caller.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The register to which `offset` is added for the frame's address: the stack pointer, or the frame pointer.
    by_stack: bool,
    offset: i64,
    /// Where the return address is, from the frame's address.
    back: i64,
    frame: Saved,
    is_first: bool,
}

/// Code without tables, or without a caller: glibc's `clone`, which has pushed nothing before its system call. In the
/// new thread it is the first frame.
const CLONE: Step =
    Step { by_stack: true, offset: 8, back: -8, frame: Saved::Kept, is_first: true };

/// The caller's frame pointer.
#[derive(Clone, Copy, Debug)]
enum Saved {
    Kept,
    At(i64),
    Lost,
}

impl Stack {
    pub(crate) fn of(thread: u32) -> io::Result<Stack> {
        let maps = fs::read_to_string(format!("/proc/{thread}/maps"))?;
        let code = maps.lines().filter_map(mapping).collect();
        Ok(Stack { thread, code, memory: File::open(format!("/proc/{thread}/mem"))? })
    }

    fn at(&self, address: u64) -> Option<&Mapping> {
        self.code.iter().find(|part| (part.from..part.to).contains(&address))
    }

    /// The innermost file that is not `inner`, of a thread whose system call returns to `pointer`; `None` if all of its
    /// frames are in such code, or if that cannot be known.
    pub(crate) fn innermost(
        &self,
        pointer: u64,
        tables: &mut Tables,
        inner: impl Fn(&str) -> bool,
    ) -> Option<&str> {
        let mut stack = self.pointer()?;
        let (mut pointer, mut frame, mut back) = (pointer, None, 0);
        loop {
            let mapping = self.at(pointer)?;
            if !inner(&mapping.name) {
                return Some(&mapping.name);
            }
            // A return address may be behind the last instruction of its function.
            let step = tables.step(self, mapping, pointer - back)?;
            if back > 0 && step.is_first {
                return None;
            }
            let base = if step.by_stack { stack } else { frame? };
            let top = base.checked_add_signed(step.offset)?;
            // Frames are one above the other.
            if top <= stack {
                return None;
            }
            frame = match step.frame {
                Saved::Kept => frame,
                Saved::At(offset) => Some(self.word(top.checked_add_signed(offset)?)?),
                Saved::Lost => None,
            };
            pointer = self.word(top.checked_add_signed(step.back)?)?;
            (stack, back) = (top, 1);
        }
    }

    /// The stack pointer of the call.
    fn pointer(&self) -> Option<u64> {
        let call = fs::read_to_string(format!("/proc/{}/syscall", self.thread)).ok()?;
        let stack = call.split_whitespace().rev().nth(1)?.strip_prefix("0x")?;
        u64::from_str_radix(stack, 16).ok()
    }

    fn word(&self, at: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.memory.read_exact_at(&mut word, at).ok()?;
        Some(u64::from_ne_bytes(word))
    }
}

impl Tables {
    fn step(&mut self, stack: &Stack, mapping: &Mapping, address: u64) -> Option<Step> {
        let at = address - mapping.from + mapping.offset;
        if let Some(known) = self.steps.get(&(mapping.name.clone(), at)) {
            return *known;
        }
        let file = self.files.entry(mapping.name.clone()).or_insert_with(|| {
            if mapping.name.starts_with('/') {
                return fs::read(&mapping.name).ok();
            }
            // The kernel's own.
            let mut bytes = vec![0; (mapping.to - mapping.from) as usize];
            stack.memory.read_exact_at(&mut bytes, mapping.from).ok().map(|()| bytes)
        });
        let step = file.as_deref().and_then(|file| step(file, at));
        self.steps.insert((mapping.name.clone(), at), step);
        step
    }
}

/// The step from the code at an offset in a file.
fn step(file: &[u8], at: u64) -> Option<Step> {
    let file = ElfFile64::<object::NativeEndian>::parse(file).ok()?;
    let address = file.segments().find_map(|segment| {
        let (begin, length) = segment.file_range();
        (begin..begin + length).contains(&at).then(|| at - begin + segment.address())
    })?;
    let section = file.section_by_name(".eh_frame")?;
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let frames: EhFrame<EndianSlice<'_, _>> = EhFrame::new(section.data().ok()?, NativeEndian);
    let mut context = UnwindContext::new();
    let found =
        frames.unwind_info_for_address(&bases, &mut context, address, EhFrame::cie_from_offset);
    let row = match found {
        Ok(row) => row,
        Err(gimli::Error::NoUnwindInfoForAddress) => return Some(CLONE),
        Err(_) => return None,
    };
    let (register, offset) = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => (*register, *offset),
        CfaRule::Expression(_) => return None,
    };
    let saved = |register: Register| row.register(register);
    let back = match saved(X86_64::RA) {
        RegisterRule::Offset(back) => back,
        RegisterRule::Undefined => return Some(CLONE),
        _ => return None,
    };
    let frame = match saved(X86_64::RBP) {
        RegisterRule::Undefined | RegisterRule::SameValue => Saved::Kept,
        RegisterRule::Offset(offset) => Saved::At(offset),
        _ => Saved::Lost,
    };
    let by_stack = register == X86_64::RSP;
    (by_stack || register == X86_64::RBP).then_some(Step {
        by_stack,
        offset,
        back,
        frame,
        is_first: false,
    })
}

/// An executable mapping.
fn mapping(line: &str) -> Option<Mapping> {
    let (range, rest) = line.split_once(' ')?;
    if rest.as_bytes().get(2) != Some(&b'x') {
        return None;
    }
    let (from, to) = range.split_once('-')?;
    let mut fields = rest.split_whitespace();
    let (offset, name) = (fields.nth(1)?, fields.nth(2)?.to_owned());
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    Some(Mapping { from: number(from)?, to: number(to)?, offset: number(offset)?, name })
}
