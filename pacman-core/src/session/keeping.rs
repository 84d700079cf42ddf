//! The attachments that the calling thread keeps.

use std::thread::LocalKey;

use super::attached::Attached;
use crate::thread_registry::{self, Keep, Kept, Last};

thread_local! {
    static KEPT: Kept<Attached> = const { Kept::new() };
    static LAST: Last<Attached> = const { thread_registry::none() };
}

impl Keep for Attached {
    fn key(&self) -> u64 {
        self.session()
    }

    fn exited(self) {
        self.detach_exited();
    }

    #[inline(always)]
    fn kept() -> &'static LocalKey<Kept<Attached>> {
        &KEPT
    }

    #[inline(always)]
    fn last() -> &'static LocalKey<Last<Attached>> {
        &LAST
    }
}
