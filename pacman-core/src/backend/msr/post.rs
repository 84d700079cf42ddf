//! The fixed table of register values to put back, readable in a signal handler.
//!
//! Each open set of counters has one *post* in the table: the hardware context it
//! counts on, and what each register held before. A signal handler may neither lock nor
//! allocate, so the table is an array of atomics:
//!
//! - A post is taken with one compare-and-swap, filled register by register *before*
//!   each register is first written, and emptied after all are restored.
//! - The handler first turns `bound` into [`GIVEN_BACK`], so that whoever goes on after
//!   the signal reads an error and never a count of nothing, and then writes.
//! - An emptied post is not handed out again while a handler is at work: the handler
//!   says so in [`AT_WORK`] before it looks at any post.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::primitive::relax;

/// `bound` after a signal handler restored the registers.
pub(super) const GIVEN_BACK: u32 = u32::MAX - 1;
/// `bound` in a forked child: the registers are the parent's.
pub(super) const FORKED: u32 = u32::MAX - 2;

/// Sixteen events of a NetBurst core with a tagging ESCR and a waking counter each:
/// more than any plan needs.
const REGISTERS: usize = 96;
/// Sets of counters open at one time in one process: one a hardware context.
const POSTS: usize = 1024;

/// One open set of counters.
#[derive(Debug)]
pub(super) struct Post {
    taken: AtomicU32,
    bound: AtomicU32,
    /// The descriptor plus 1; 0 for none. All zeros, the table takes no room in the
    /// program's file, and no memory where it is not used.
    fd: AtomicI32,
    /// Which file that is: the program may close it, and open another one under the number.
    file: [AtomicU64; 2],
    len: AtomicUsize,
    registers: [Register; REGISTERS],
}

#[derive(Debug)]
struct Register {
    msr: AtomicU32,
    mask: AtomicU64,
    before: AtomicU64,
}

/// The value of a register before it was touched, in the bits that are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) msr: u32,
    pub(super) mask: u64,
    pub(super) value: u64,
}

impl Before {
    /// What to write so that the touched bits are as before and the others as now.
    pub(super) fn merged(&self, now: u64) -> u64 {
        now & !self.mask | self.value & self.mask
    }
}

impl Post {
    /// A free post, for counters on `cpu`; `None` when all are taken.
    ///
    /// `fd` is where a handler can write the registers of `cpu`.
    pub(super) fn take(cpu: u32, fd: Option<RawFd>) -> Option<&'static Post> {
        // ATOMICS: AcqRel pairs with the Release of `leave`, so that the last user's
        // stores do not follow ours.
        let free = |post: &&Post| {
            post.taken.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let post = TABLE.iter().find(free)?;
        let found = fd.and_then(|fd| Some((fd, identity(fd)?)));
        let (fd, file) = found.map_or((0, [0; 2]), |(fd, file)| (fd + 1, file));
        post.fd.store(fd, Ordering::Relaxed);
        post.file.iter().zip(file).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        post.bound.store(cpu, Ordering::Release);
        Some(post)
    }

    /// The hardware context whose registers are held, or why there is none any more.
    #[inline(always)]
    pub(super) fn bound(&self) -> u32 {
        // ATOMICS: changed by a handler on this or another thread; the value alone
        // decides, nothing is read through it.
        self.bound.load(Ordering::Relaxed)
    }

    /// Notes a register that is about to be written; false if there is no room.
    pub(super) fn note(&self, before: Before) -> bool {
        let at = self.len.load(Ordering::Relaxed);
        let Some(register) = self.registers.get(at) else { return false };
        register.msr.store(before.msr, Ordering::Relaxed);
        register.mask.store(before.mask, Ordering::Relaxed);
        register.before.store(before.value, Ordering::Relaxed);
        // ATOMICS: Release, so that a handler that sees the new length sees the entry.
        self.len.store(at + 1, Ordering::Release);
        true
    }

    /// Gives the post back, when its registers are restored.
    pub(super) fn leave(&self) {
        // ATOMICS: SeqCst here and in `restore_all`: either the handler sees the post
        // empty, or this thread sees the handler at work and waits.
        self.len.store(0, Ordering::SeqCst);
        while AT_WORK.load(Ordering::SeqCst) != 0 {
            relax();
        }
        self.taken.store(0, Ordering::Release);
    }
}

/// Restores every register of every post. For signal handlers and the end of the
/// process: loads, stores, `fstat(2)`, `pread(2)` and `pwrite(2)` only.
pub(super) fn restore_all() {
    AT_WORK.fetch_add(1, Ordering::SeqCst);
    for post in &TABLE {
        let len = post.len.load(Ordering::SeqCst);
        if post.taken.load(Ordering::Relaxed) == 0 || len == 0 {
            continue;
        }
        post.bound.store(GIVEN_BACK, Ordering::Relaxed);
        let fd = post.fd.load(Ordering::Relaxed) - 1;
        let file = [0, 1].map(|word: usize| post.file[word].load(Ordering::Relaxed));
        let is_ours = fd >= 0 && identity(fd) == Some(file);
        for register in post.registers.iter().take(len).filter(|_| is_ours) {
            let before = Before {
                msr: register.msr.load(Ordering::Relaxed),
                mask: register.mask.load(Ordering::Relaxed),
                value: register.before.load(Ordering::Relaxed),
            };
            restore(fd, &before);
        }
    }
    AT_WORK.fetch_sub(1, Ordering::SeqCst);
}

/// In a forked child, while it has one thread: the registers are the parent's.
pub(super) fn disown_all() {
    for post in TABLE.iter().filter(|post| post.taken.load(Ordering::Relaxed) != 0) {
        post.len.store(0, Ordering::Relaxed);
        post.bound.store(FORKED, Ordering::Relaxed);
    }
    AT_WORK.store(0, Ordering::Relaxed);
}

/// The device and the inode behind a descriptor.
fn identity(fd: RawFd) -> Option<[u64; 2]> {
    // SAFETY: all zeros is a valid description, which the call fills in.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: as above; the call may be made in signal handlers.
    let known = unsafe { libc::fstat(fd, &raw mut found) } == 0;
    known.then_some([found.st_dev, found.st_ino])
}

fn restore(fd: RawFd, before: &Before) {
    let (mut now, at) = (0u64, i64::from(before.msr));
    if before.mask != u64::MAX {
        // SAFETY: the buffer is valid for the 8 bytes that the call may write.
        if unsafe { libc::pread(fd, (&raw mut now).cast(), 8, at) } != 8 {
            return;
        }
    }
    let value = before.merged(now);
    for _ in 0..writes(before.msr) {
        // SAFETY: the buffer is valid for the 8 bytes that the call reads. A failure leaves
        // nothing to be done: the context is offline, and comes back with fresh registers.
        unsafe { libc::pwrite(fd, (&raw const value).cast(), 8, at) };
    }
}

/// How often a register is written so that it holds the value: on NetBurst the first write of
/// a counter may not reach the upper bits (erratum N15). Other processors have other counters
/// under some of these numbers, to which a second write does nothing.
pub(super) fn writes(msr: u32) -> usize {
    if (0x300..0x312).contains(&msr) { 2 } else { 1 }
}

/// Handlers that are restoring registers now.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);

static TABLE: [Post; POSTS] = [const {
    Post {
        taken: AtomicU32::new(0),
        bound: AtomicU32::new(0),
        fd: AtomicI32::new(0),
        file: [const { AtomicU64::new(0) }; 2],
        len: AtomicUsize::new(0),
        registers: [const {
            Register { msr: AtomicU32::new(0), mask: AtomicU64::new(0), before: AtomicU64::new(0) }
        }; REGISTERS],
    }
}; POSTS];
