//! The code of a module, and the functions that it calls.

use std::ffi::CStr;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

use crate::function::{CallKind, Function};

/// What the proof has to know about a called function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// It answers the size of the team.
    TeamSize,
    /// It answers the thread's number.
    ThreadNumber,
    /// A function of another module. It takes that many arguments in general registers, and none in
    /// vector registers or in memory.
    Takes(usize),
    /// A function of another module that takes arguments in vector registers alone.
    TakesVectors,
    /// A function of another module that may take any arguments.
    Imported,
    /// It does not return. It may take any arguments.
    NeverReturns,
    /// A function of the same module, or of a pointer.
    Unknown,
}

impl Callee {
    /// Whether others may notice a call of the function.
    pub(super) fn has_effects(self) -> bool {
        match self {
            // Those without arguments are constructs and barriers of the runtime.
            Callee::TeamSize | Callee::ThreadNumber | Callee::Takes(0) => false,
            Callee::TakesVectors | Callee::NeverReturns => false,
            Callee::Takes(_) | Callee::Imported | Callee::Unknown => true,
        }
    }

    /// The imported function of that name.
    pub(crate) fn named(name: &CStr) -> Callee {
        match Function::question(name) {
            Some(CallKind::TeamSize) => return Callee::TeamSize,
            Some(CallKind::ThreadNumber) => return Callee::ThreadNumber,
            _ => {}
        }
        let Ok(name) = name.to_str() else { return Callee::Imported };
        let throws = name.starts_with("_ZSt") && name.contains("__throw_");
        if throws || NEVER_RETURN.contains(&name) {
            return Callee::NeverReturns;
        }
        if VECTORS.contains(&name) {
            return Callee::TakesVectors;
        }
        let known = TAKE.iter().find(|(_, names)| names.contains(&name));
        known.map_or(Callee::Imported, |(count, _)| Callee::Takes(*count))
    }
}

const NEVER_RETURN: &[&str] = &[
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "__stack_chk_fail",
    "__assert_fail",
    "_Unwind_Resume",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "_ZSt9terminatev",
    "_gfortran_runtime_error",
    "_gfortran_runtime_error_at",
    "_gfortran_os_error",
    "_gfortran_os_error_at",
    "_gfortran_stop_numeric",
    "_gfortran_stop_string",
    "_gfortran_error_stop_numeric",
    "_gfortran_error_stop_string",
];

/// Functions by their number of arguments in general registers. Their callers leave anything in the
/// others.
const TAKE: &[(usize, &[&str])] = &[
    (
        0,
        &[
            "GOMP_barrier",
            "GOMP_barrier_cancel",
            "GOMP_atomic_start",
            "GOMP_atomic_end",
            "GOMP_critical_start",
            "GOMP_critical_end",
            "GOMP_loop_end",
            "GOMP_loop_end_cancel",
            "GOMP_loop_end_nowait",
            "GOMP_ordered_start",
            "GOMP_ordered_end",
            "GOMP_sections_end",
            "GOMP_sections_end_nowait",
            "GOMP_single_start",
            "GOMP_single_copy_start",
            "GOMP_taskwait",
            "GOMP_taskyield",
        ],
    ),
    (
        1,
        &[
            "GOMP_critical_name_start",
            "GOMP_critical_name_end",
            "GOMP_single_copy_end",
            "free",
            "malloc",
            "_ZdlPv",
            "_ZdaPv",
            "_Znwm",
            "_Znam",
        ],
    ),
    (2, &["calloc", "realloc", "_ZdlPvm", "_ZdaPvm"]),
    (3, &["memcpy", "memmove", "memset", "memcmp"]),
];

/// Functions whose arguments are all in vector registers.
#[rustfmt::skip]
const VECTORS: &[&str] = &[
    "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1",
    "fabs", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "log", "log10", "log1p", "log2", "pow", "rint",
    "round", "sin", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
    "acosf", "asinf", "atanf", "atan2f", "cbrtf", "ceilf", "cosf", "expf", "floorf", "fmodf", "logf",
    "log10f", "powf", "sinf", "sqrtf", "tanf",
];

/// The executable segment of a module, with what its calls reach.
pub(crate) struct Code<'a> {
    /// The segment's bytes, and the address of the first.
    pub(crate) bytes: &'a [u8],
    pub(crate) start: u64,
    /// The slots through which the module calls imported functions, in order, with their names.
    pub(crate) imports: Vec<(u64, &'a CStr)>,
    /// The module's tables of exception handlers; see `exceptions`.
    pub(crate) handlers: Option<Tables<'a>>,
}

/// Tables of exception handlers, in the read-only segments of a module.
#[derive(Clone)]
pub(crate) struct Tables<'a> {
    /// The segments, each with the address of its first byte.
    pub(crate) segments: Vec<(u64, &'a [u8])>,
    /// The address of the search table.
    pub(crate) header: u64,
}

impl<'a> Code<'a> {
    /// Whether the address is in the code.
    pub(crate) fn has(&self, address: u64) -> bool {
        address.checked_sub(self.start).is_some_and(|offset| offset < self.bytes.len() as u64)
    }

    /// A decoder of the code.
    pub(super) fn decoder(&self) -> CodeDecoder<'_> {
        CodeDecoder {
            code: self,
            decoder: Decoder::with_ip(64, self.bytes, self.start, DecoderOptions::NONE),
        }
    }

    /// The function that is called through a slot.
    fn imported(&self, slot: u64) -> Callee {
        let found = self.imports.binary_search_by_key(&slot, |(at, _)| *at);
        found.map_or(Callee::Unknown, |at| Callee::named(self.imports[at].1))
    }
}

/// Decodes instructions of a module. A decoder costs as much as an instruction, so it is kept.
pub(super) struct CodeDecoder<'a> {
    code: &'a Code<'a>,
    decoder: Decoder<'a>,
}

impl CodeDecoder<'_> {
    /// The instruction at an address; `None` outside of the code, and for bytes that are none.
    pub(super) fn instruction(&mut self, address: u64) -> Option<Instruction> {
        if !self.code.has(address) {
            return None;
        }
        self.decoder.set_position((address - self.code.start) as usize).ok()?;
        self.decoder.set_ip(address);
        let instruction = self.decoder.decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// The function that a call or jump reaches.
    pub(super) fn called(&mut self, instruction: &Instruction) -> Callee {
        match instruction.flow_control() {
            FlowControl::Call => self.behind_stub(instruction.near_branch_target()),
            _ if instruction.is_ip_rel_memory_operand() => {
                self.code.imported(instruction.ip_rel_memory_address())
            }
            _ => Callee::Unknown,
        }
    }

    /// The imported function that a stub of the procedure linkage table jumps to.
    fn behind_stub(&mut self, target: u64) -> Callee {
        let mut at = target;
        // `endbr64` may come first.
        for _ in 0..2 {
            let Some(instruction) = self.instruction(at) else { return Callee::Unknown };
            if instruction.flow_control() == FlowControl::IndirectBranch {
                return self.called(&instruction);
            }
            if instruction.mnemonic() != iced_x86::Mnemonic::Endbr64 {
                return Callee::Unknown;
            }
            at = instruction.next_ip();
        }
        Callee::Unknown
    }
}
