//! Machine code of regions, with the tables of exception handlers.

use std::ffi::CString;

use crate::is_readable;
use crate::machine_code::{Calls, Code, Tables, called_function, prove, prove_function};

/// A module in bytes, each number in little-endian order:
///
/// - the address of the code, the address of the region's body (8 bytes each);
/// - the slots of imported functions: their number (2 bytes), then an address (8), the length of a name (1)
///   and the name, for each;
/// - the address of the search table of exception handlers, 0 without one (8);
/// - the segments: their number (1), then an address (8), a length (4) and the bytes, for each;
/// - the code, to the end.
struct Module<'a>(&'a [u8]);

impl<'a> Module<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.bytes(bytes).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn import(&mut self) -> (u64, CString) {
        let (slot, length) = (self.number(8), self.number(1) as usize);
        (slot, CString::new(self.bytes(length)).unwrap_or_default())
    }

    fn segment(&mut self) -> (u64, &'a [u8]) {
        let (address, length) = (self.number(8), self.number(4) as usize);
        (address, self.bytes(length))
    }
}

/// A module with a region's body: it is examined to an end, and what is proved is in the module.
pub fn code(data: &[u8]) {
    with(data, |code, body| {
        let mut calls = Calls::new();
        for answer in [prove(code, body), prove_function(code, body)] {
            match answer {
                // Questions are named by the address that they return to.
                Ok(proof) => {
                    assert!(proof.questions.iter().all(|at| code.has(at - 1)), "{proof:x?}")
                }
                Err(unproved) => is_readable(unproved.why),
            }
        }
        for address in [body.wrapping_add(1), code.start] {
            let called = called_function(code, &mut calls, &[body], address);
            assert!(called.is_none_or(|function| function != body && function <= address));
        }
    });
}

/// The number of questions that are proved to divide static loops; `None` for a body that is not proved.
pub fn proved(data: &[u8]) -> Option<usize> {
    with(data, |code, body| prove(code, body).ok()).flatten().map(|proof| proof.questions.len())
}

fn with<R>(data: &[u8], act: impl FnOnce(&Code<'_>, u64) -> R) -> Option<R> {
    let mut module = Module(data);
    let (start, body) = (module.number(8), module.number(8));
    let count = module.number(2).min(64);
    let names: Vec<_> = (0..count).map(|_| module.import()).collect();
    let mut imports: Vec<_> = names.iter().map(|(slot, name)| (*slot, name.as_c_str())).collect();
    imports.sort_by_key(|(slot, _)| *slot);
    imports.dedup_by_key(|(slot, _)| *slot);
    let (header, count) = (module.number(8), module.number(1).min(8));
    let segments: Vec<_> = (0..count).map(|_| module.segment()).collect();
    let handlers = (header != 0).then_some(Tables { segments, header });
    let bytes = module.0;
    // Modules end below the highest address.
    start.checked_add(bytes.len() as u64)?;
    Some(act(&Code { bytes, start, imports, handlers }, body))
}
