//! One array plus a constant into another, both larger than all caches.

use std::arch::asm;

use super::caches;
use super::region::{self, Pages, Region};
use super::work::{Ground, Kernel, Work};
use crate::validate::checks::around::Around;
use crate::validate::checks::verdict::Truth;
use pacman_core::Result;

const LINE: u64 = 64;

/// `b[i] = a[i] + s`.
#[derive(Debug)]
pub(super) struct Stream {
    from: Region,
    to: Region,
    bytes: usize,
    truth: Truth,
}

impl Stream {
    /// To count the requests that leave the core.
    pub(super) fn traffic(ground: &Ground) -> Result<Stream> {
        let cache = caches::last(&ground.topology, ground.place.cpu())?;
        let (held, lines) = (cache.lines() as u64, 2 * cache.bytes() as u64 / LINE);
        Stream::new(2 * cache.bytes(), Truth { low: 2 * lines - held, high: 3 * lines })
    }

    /// To count the additions.
    pub(super) fn operations(ground: &Ground) -> Result<Stream> {
        let bytes = 2 * caches::last(&ground.topology, ground.place.cpu())?.bytes();
        Stream::new(bytes, Truth::exactly(bytes as u64 / 8))
    }

    pub(super) fn new(bytes: usize, truth: Truth) -> Result<Stream> {
        region::afford(2 * bytes, "stream")?;
        let mut from = Region::new(bytes, Pages::Large)?;
        let to = Region::new(bytes, Pages::Large)?;
        // Pages that are only read are all the same page of zeros, which fits every cache.
        for offset in (0..bytes).step_by(4096) {
            from.set_word(offset, 0);
        }
        Ok(Stream { from, to, bytes, truth })
    }
}

impl Kernel for Stream {
    fn run(&mut self, work: Work) -> Result<()> {
        if work == Work::Long {
            // SAFETY: the loop reads and writes elements of 8 bytes inside of two live regions.
            // Each region has `bytes` bytes, which is a multiple of 8.
            unsafe {
                asm!("2:",
                    "movsd {x}, [{from} + {at}]", "addsd {x}, {s}", "movsd [{to} + {at}], {x}",
                    "add {at}, 8", "cmp {at}, {end}", "jb 2b",
                    at = inout(reg) 0usize => _, end = in(reg) self.bytes,
                    from = in(reg) self.from.as_mut_ptr(), to = in(reg) self.to.as_mut_ptr(),
                    x = out(xmm_reg) _, s = in(xmm_reg) 1.0f64, options(nostack));
            }
        }
        Ok(())
    }

    fn truth(&self, _: &Around) -> Truth {
        self.truth
    }

    fn disturbed(&self, around: &Around) -> bool {
        around.switches() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_added_to_once() {
        let mut stream = Stream::new(1 << 16, Truth::exactly(1 << 13)).unwrap();
        stream.from.set_word(4096, 41f64.to_bits() as usize);
        stream.run(Work::Short).unwrap();
        assert_eq!(stream.to.word(0), 0, "the short work leaves everything alone");
        stream.run(Work::Long).unwrap();
        let element = |at: usize| f64::from_bits(stream.to.word(at) as u64);
        assert_eq!(element(4096), 42.0);
        let ones = (0..1usize << 16).step_by(8).filter(|at| element(*at) == 1.0).count();
        assert_eq!(ones, (1 << 13) - 1);
    }
}
