//! First touches of fresh pages.

use super::region::{Pages, Region};
use super::work::{Kernel, Work};
use crate::validate::checks::around::Around;
use crate::validate::checks::verdict::Truth;
use pacman_core::Result;

/// Pages that are touched in one run.
const PAGES: usize = 1024;

/// Touches every page of a new mapping once.
#[derive(Debug, Default)]
pub(super) struct FirstTouches {
    fresh: Option<Region>,
}

impl Kernel for FirstTouches {
    fn prepare(&mut self) -> Result<()> {
        self.fresh = Some(Region::new(PAGES * page_size(), Pages::Small)?);
        Ok(())
    }

    fn run(&mut self, work: Work) -> Result<()> {
        let (page, pages) = (page_size(), work.of(PAGES as u64) as usize);
        if let Some(fresh) = &mut self.fresh {
            for number in 0..pages {
                fresh.set_word(number * page, 1);
            }
        }
        Ok(())
    }

    fn truth(&self, _: &Around) -> Truth {
        Truth::exactly(PAGES as u64)
    }
}

fn page_size() -> usize {
    // SAFETY: takes a number and answers one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("Linux has a page size")
}
