//! The proofs, checked by the processor: kernels run one instruction at a time under
//! `ptrace`, and every instruction is looked at.

use super::loops::Loop;
use super::stream::Stream;
use super::{Kernel, Work};
use crate::validate::checks::catalogue::KernelId;
use crate::validate::checks::verdict::Truth;

/// The executed instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    instructions: u64,
    branches: u64,
    taken: u64,
    loads: u64,
    stores: u64,
    /// Scalar additions of floating-point numbers.
    additions: u64,
    /// Integer additions of a register to a register.
    adds: u64,
}

impl Tally {
    fn since(self, less: Tally) -> Tally {
        Tally {
            instructions: self.instructions - less.instructions,
            branches: self.branches - less.branches,
            taken: self.taken - less.taken,
            loads: self.loads - less.loads,
            stores: self.stores - less.stores,
            additions: self.additions - less.additions,
            adds: self.adds - less.adds,
        }
    }

    /// Adds the instruction of these bytes, after which `next` bytes further on was the
    /// next. Knows what the kernels are made of (Intel's manual, volume 2); everything
    /// around them is the same in both runs.
    fn note(&mut self, bytes: [u8; 8], next: i64) {
        self.instructions += 1;
        let mut rest = &bytes[..];
        let scalar_double = rest[0] == 0xf2;
        if scalar_double {
            rest = &rest[1..];
        }
        if rest[0] & 0xf0 == 0x40 {
            rest = &rest[1..];
        }
        let in_memory = |modrm: u8| modrm < 0xc0;
        match *rest {
            [0x70..=0x7f, ..] => {
                self.branches += 1;
                self.taken += u64::from(next != 2);
            }
            [0x8b, modrm, ..] if in_memory(modrm) => self.loads += 1,
            [0x89, modrm, ..] if in_memory(modrm) => self.stores += 1,
            [0x01, modrm, ..] if !in_memory(modrm) => self.adds += 1,
            [0x0f, 0x10, modrm, ..] if scalar_double && in_memory(modrm) => self.loads += 1,
            [0x0f, 0x11, modrm, ..] if scalar_double && in_memory(modrm) => self.stores += 1,
            [0x0f, 0x58, ..] if scalar_double => self.additions += 1,
            _ => {}
        }
    }
}

/// Runs `kernel` in a child, one instruction at a time.
fn stepped(kernel: &mut dyn Kernel, work: Work) -> Tally {
    // SAFETY: this process has many threads, so its child may only run assembly and make system
    // calls. It allocates nothing, takes no lock, and never returns from this block.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above; the arguments of the calls are numbers.
        unsafe {
            let allowed = libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0;
            libc::raise(libc::SIGSTOP);
            let ran = allowed && kernel.run(work).is_ok();
            libc::_exit(i32::from(!ran));
        }
    }
    assert!(child > 0, "fork: {}", std::io::Error::last_os_error());
    let mut tally = Tally::default();
    let mut status = wait(child);
    assert!(libc::WIFSTOPPED(status), "the child stops itself");
    let mut at = instruction_pointer(child);
    loop {
        // SAFETY: the child is stopped and this process's; the call answers a word of it.
        let word = unsafe { libc::ptrace(libc::PTRACE_PEEKTEXT, child, at, 0) };
        // SAFETY: lets the stopped child execute one instruction.
        let step = unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, 0, 0) };
        assert_eq!(step, 0, "{}", std::io::Error::last_os_error());
        status = wait(child);
        if libc::WIFEXITED(status) {
            assert_eq!(libc::WEXITSTATUS(status), 0, "the kernel ran");
            return tally;
        }
        let next = instruction_pointer(child);
        tally.note(word.to_le_bytes(), next.wrapping_sub(at) as i64);
        at = next;
    }
}

fn wait(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the pointer is to a live number.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(waited, child, "{}", std::io::Error::last_os_error());
    status
}

fn instruction_pointer(child: i32) -> u64 {
    // SAFETY: all zeros are a value of the structure, which the call fills.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        let read = libc::ptrace(libc::PTRACE_GETREGS, child, 0, &mut registers);
        assert_eq!(read, 0, "{}", std::io::Error::last_os_error());
        registers.rip
    }
}

/// The instructions of ten rounds.
fn ten_rounds(id: KernelId) -> (Tally, Truth) {
    let mut kernel = Loop::of(id).shortened(10);
    let around = crate::validate::checks::around::Moment::now().until_now();
    let truth = kernel.truth(&around);
    let short = stepped(&mut kernel, Work::Short);
    (stepped(&mut kernel, Work::Long).since(short), truth)
}

#[test]
fn loops_do_what_they_claim() {
    for (id, what, instructions) in [
        (KernelId::Instructions, (|tally| tally.instructions) as fn(&Tally) -> u64, 20),
        (KernelId::Branches, |tally| tally.branches, 30),
        (KernelId::TakenBranches, |tally| tally.taken, 30),
        (KernelId::Loads, |tally| tally.loads, 100),
        (KernelId::Stores, |tally| tally.stores, 100),
        (KernelId::FloatingPoint, |tally| tally.additions, 100),
    ] {
        let (tally, truth) = ten_rounds(id);
        assert_eq!(truth, Truth::exactly(what(&tally)), "{id}: {tally:?}");
        assert_eq!(tally.instructions, instructions, "{id}: {tally:?}");
    }
    let (tally, truth) = ten_rounds(KernelId::DependentAdds);
    assert_eq!((tally.adds, truth.low), (640, 640), "{tally:?}");
}

#[test]
fn a_stream_adds_loads_and_stores_every_element_once() {
    let mut stream = Stream::new(4096, Truth::exactly(512)).unwrap();
    let short = stepped(&mut stream, Work::Short);
    let tally = stepped(&mut stream, Work::Long).since(short);
    assert_eq!(tally.additions, 512);
    // The way in reads a few fields of the kernel.
    assert!((512..=540).contains(&tally.loads), "{tally:?}");
    assert!((512..=540).contains(&tally.stores), "{tally:?}");
}
