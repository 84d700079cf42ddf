//! Tests that a program's handler runs with the flags and the mask that it asked for, with and
//! without counters.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::signals::{counters, named_device, part};
use super::*;

#[test]
fn a_handler_runs_as_its_flags_and_its_mask_ask_for() {
    part("flags", "told_apart");
}

/// The state in which a handler ran, and the effect on the interrupted call.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    on_its_stack: bool,
    blocks_itself: bool,
    blocks_another: bool,
    sender: i32,
    disposition: usize,
    read: isize,
}

static ON_ITS_STACK: AtomicBool = AtomicBool::new(false);
static BLOCKS_ITSELF: AtomicBool = AtomicBool::new(false);
static BLOCKS_ANOTHER: AtomicBool = AtomicBool::new(false);
static SENDER: AtomicI32 = AtomicI32::new(0);
static DISPOSITION: AtomicUsize = AtomicUsize::new(0);
static PIPE: AtomicI32 = AtomicI32::new(-1);
static STACK: AtomicUsize = AtomicUsize::new(0);
const STACK_BYTES: usize = 64 << 10;

extern "C" fn look(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let here = (&raw const info).addr();
    let stack = STACK.load(Ordering::SeqCst);
    ON_ITS_STACK.store((stack..stack + STACK_BYTES).contains(&here), Ordering::SeqCst);
    // SAFETY: zeros are valid for both structures, which the calls fill in; the kernel's own
    // `info` is live while the handler runs; the pipe is open.
    unsafe {
        let (mut blocked, mut action) =
            (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed::<libc::sigaction>());
        libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &raw mut blocked);
        let blocks = |signal| libc::sigismember(&raw const blocked, signal) == 1;
        BLOCKS_ITSELF.store(blocks(signal), Ordering::SeqCst);
        BLOCKS_ANOTHER.store(blocks(libc::SIGUSR1), Ordering::SeqCst);
        SENDER.store((*info).si_pid(), Ordering::SeqCst);
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        let default = action.sa_sigaction == libc::SIG_DFL;
        DISPOSITION.store(usize::from(default), Ordering::SeqCst);
        libc::write(PIPE.load(Ordering::SeqCst), b"x".as_ptr().cast(), 1);
    }
}

/// Has a thread that blocks in `read(2)` handle one signal by `look`, installed with `flags`.
fn found(flags: i32, counting: Option<&Fake>) -> Found {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both ends; zeros are a valid `sigaction`; `look` is
    // async-signal-safe and takes what SA_SIGINFO promises.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        PIPE.store(ends[1], Ordering::SeqCst);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = look as *const () as usize;
        action.sa_flags = flags;
        libc::sigaddset(&raw mut action.sa_mask, libc::SIGUSR1);
        assert_eq!(libc::sigaction(libc::SIGTERM, &raw const action, std::ptr::null_mut()), 0);
    }
    let held = counting.map(counters);
    // SAFETY: both take nothing and cannot fail.
    let (thread, tid) = unsafe { (libc::pthread_self(), libc::gettid()) };
    let read = std::thread::scope(|scope| {
        scope.spawn(move || {
            let deadline = Instant::now() + Duration::from_secs(60);
            // Field 3 of `stat`; the thread's name holds no parenthesis.
            let sleeps = || {
                let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap();
                stat.rsplit_once(") ").unwrap().1.starts_with('S')
            };
            while !sleeps() {
                assert!(Instant::now() < deadline, "the other thread never reads");
                std::thread::yield_now();
            }
            // SAFETY: the thread is in this scope, and waits for the signal.
            assert_eq!(unsafe { libc::pthread_kill(thread, libc::SIGTERM) }, 0);
        });
        // SAFETY: one byte of room, and the pipe is open.
        unsafe { libc::read(ends[0], [0u8; 1].as_mut_ptr().cast(), 1) }
    });
    drop(held);
    let flag = |seen: &AtomicBool| seen.load(Ordering::SeqCst);
    let found = Found {
        on_its_stack: flag(&ON_ITS_STACK),
        blocks_itself: flag(&BLOCKS_ITSELF),
        blocks_another: flag(&BLOCKS_ANOTHER),
        sender: SENDER.load(Ordering::SeqCst),
        disposition: DISPOSITION.load(Ordering::SeqCst),
        read,
    };
    // SAFETY: both ends are ours, and the default action needs no handler.
    unsafe {
        libc::signal(libc::SIGTERM, libc::SIG_DFL);
        for end in ends {
            libc::close(end);
        }
    }
    found
}

#[test]
#[ignore = "runs in a process of its own"]
fn told_apart() {
    let mut stack = vec![0u8; STACK_BYTES];
    STACK.store(stack.as_mut_ptr().addr(), Ordering::SeqCst);
    let own = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the stack lives until the thread gives it up below.
    assert_eq!(unsafe { libc::sigaltstack(&raw const own, std::ptr::null_mut()) }, 0);
    let file = named_device();
    let io = Fake::separate().with_descriptor(file.as_raw_fd());
    let each = [libc::SA_ONSTACK, libc::SA_NODEFER, libc::SA_RESETHAND, libc::SA_RESTART];
    let all = each.iter().fold(0, |all, flag| all | flag);
    let mut kinds = Vec::new();
    for flags in [0, all].into_iter().chain(each).chain(each.map(|flag| all & !flag)) {
        let alone = found(libc::SA_SIGINFO | flags, None);
        let observed = found(libc::SA_SIGINFO | flags, Some(&io));
        assert_eq!(observed, alone, "flags {flags:#x}");
        // SAFETY: getpid takes nothing and cannot fail.
        assert_eq!(alone.sender, unsafe { libc::getpid() });
        assert!(alone.blocks_another, "its mask");
        // A handler that takes only the number is called with it.
        let observed = found(flags, Some(&io));
        assert_eq!(observed.blocks_itself, alone.blocks_itself, "flags {flags:#x}");
        kinds.push((alone.on_its_stack, alone.blocks_itself, alone.disposition, alone.read));
    }
    assert_eq!(kinds[0], (false, true, 0, -1));
    assert_eq!(kinds[1], (true, false, 1, 1), "each flag makes the difference that it names");
    // SAFETY: no handler runs any more.
    unsafe {
        let off =
            libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        libc::sigaltstack(&raw const off, std::ptr::null_mut());
    }
}
