//! The places in a module's code that take the addresses of regions' functions.
//!
//! A compiler makes a function of a region's body and passes its address to the runtime. The instruction
//! that takes the address is of the function that has the region, with its template arguments: LLVM's name
//! of the body does not have that function.

use std::collections::HashMap;

/// Places by the address that they take. Code for x86-64 only: other code has none.
#[derive(Debug, Default)]
pub(super) struct References(HashMap<u64, u64>);

impl References {
    /// Notes the places in the code at `start` that take one of the addresses that are `wanted`.
    ///
    /// This looks at each byte, without decoding. A wrong place would need the four bytes of such an
    /// address by chance, and the caller compares the function there.
    pub(super) fn find(&mut self, start: u64, code: &[u8], wanted: impl Fn(u64) -> bool) {
        for (at, bytes) in code.windows(7).enumerate() {
            let place = start + at as u64;
            let target = match bytes {
                // lea r64, [rip + displacement]
                [0x48 | 0x4c, 0x8d, register, a, b, c, d] if register & 0xc7 == 0x05 => {
                    let displacement = i32::from_le_bytes([*a, *b, *c, *d]);
                    place.wrapping_add(7).wrapping_add_signed(displacement.into())
                }
                // mov r32, address: in programs that are loaded where they are linked
                [0xb8..=0xbf, a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]).into(),
                _ => continue,
            };
            if wanted(target) {
                self.0.entry(target).or_insert(place);
            }
        }
    }

    /// The first place that takes this address.
    pub(super) fn to(&self, address: u64) -> Option<u64> {
        self.0.get(&address).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_found_and_other_addresses_are_not() {
        let code = [
            0x90, // nop
            0x48, 0x8d, 0x3d, 0xf8, 0xff, 0xff, 0xff, // lea rdi, [rip - 8]: 0x1000
            0x4c, 0x8d, 0x05, 0x00, 0x10, 0x00, 0x00, // lea r8, [rip + 0x1000]: 0x200f
            0xbf, 0x34, 0x12, 0x40, 0x00, // mov edi, 0x401234
            0x48, 0x8d, 0x7d, 0xf8, // lea rdi, [rbp - 8]
            0xc3, 0xc3, 0xc3,
        ];
        let mut references = References::default();
        references.find(0x1000, &code, |address| [0x1000, 0x200f, 0x40_1234].contains(&address));
        let to = |address| references.to(address);
        assert_eq!(to(0x1000), Some(0x1001));
        assert_eq!(to(0x200f), Some(0x1008));
        assert_eq!(to(0x40_1234), Some(0x100f));
        assert_eq!(references.0.len(), 3);
    }
}
