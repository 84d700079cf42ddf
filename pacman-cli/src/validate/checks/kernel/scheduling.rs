//! Threads that change places on a CPU, and a thread that changes CPUs.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::thread::{self, JoinHandle};

#[cfg(target_arch = "x86_64")]
use super::loops;
use super::work::{Ground, Kernel, Work};
use crate::validate::checks::around::Around;
use crate::validate::checks::verdict::Truth;
use pacman_core::{Error, ErrorKind, Result};
use pacman_topology::Binding;
use pacman_topology::Place;
use pacman_topology::Topology;

/// Hand-overs of one run.
const HAND_OVERS: u64 = 200;

/// A thread on the same CPU that sends each received byte back.
///
/// It uses two pipes. A socket pair also wakes a thread when its partner has read, which adds a
/// switch to some rounds.
#[derive(Debug)]
struct Partner {
    to: Option<File>,
    from: File,
    thread: Option<JoinHandle<()>>,
}

impl Partner {
    fn new(ground: &Ground) -> Result<Partner> {
        let (mut their_from, to) = pipe().map_err(|error| broken(&error))?;
        let (from, mut their_to) = pipe().map_err(|error| broken(&error))?;
        let (topology, place) = (ground.topology.clone(), ground.place);
        let play = move || {
            // Elsewhere it would take no turns, so it closes its pipes instead.
            let Ok(_binding) = Binding::bind(&topology, &place) else { return };
            never_preempt();
            let mut ball = [0];
            while their_from.read_exact(&mut ball).is_ok() && their_to.write_all(&ball).is_ok() {}
        };
        let named = thread::Builder::new().name("partner".into());
        let thread = named.spawn(play).map_err(|error| broken(&error))?;
        Ok(Partner { to: Some(to), from, thread: Some(thread) })
    }

    /// Gives the CPU to the partner and takes it back.
    #[inline]
    fn hand_over(&mut self) -> Result<()> {
        let mut ball = [0];
        let sent = match &mut self.to {
            Some(to) => to.write_all(&ball),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        sent.and_then(|()| self.from.read_exact(&mut ball)).map_err(|error| broken(&error))
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // The partner ends with its pipe.
        self.to = None;
        if let Some(thread) = self.thread.take() {
            // The thread does not panic.
            let _ = thread.join();
        }
    }
}

/// The end to read from and the end to write to.
fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the call fills two descriptors into a live array of two.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors are new and have no other owner.
    let [from, to] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    Ok((from.into(), to.into()))
}

/// Keeps the calling thread from preempting its partner when it wakes. The partner then gives the
/// CPU away by waiting, once in each round.
fn never_preempt() {
    // SAFETY: all zeros are a value of the structure, whose only field here is a priority.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // If the kernel refuses this, preemption occurs, and `getrusage` counts it.
    // SAFETY: the pointer is to a live structure; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &parameters) };
}

#[cold]
fn broken(error: &io::Error) -> Error {
    Error::from_errno(
        ErrorKind::System,
        error.raw_os_error().unwrap_or(0),
        format!(
            "cannot hand over to a partner thread on the same cpu: {error}; it needs four \
             descriptors and the right to bind a thread"
        ),
    )
}

/// Plays a ball to a partner and back.
#[derive(Debug)]
pub(super) struct HandOvers {
    partner: Partner,
}

impl HandOvers {
    pub(super) fn new(ground: &Ground) -> Result<HandOvers> {
        Ok(HandOvers { partner: Partner::new(ground)? })
    }
}

impl Kernel for HandOvers {
    fn run(&mut self, work: Work) -> Result<()> {
        (0..work.of(HAND_OVERS)).try_for_each(|_| self.partner.hand_over())
    }

    fn truth(&self, around: &Around) -> Truth {
        Truth { low: HAND_OVERS, high: HAND_OVERS + around.preemptions }
    }

    fn disturbed(&self, around: &Around) -> bool {
        around.preemptions > 0
    }
}

/// Slices of a loop between hand-overs, and the rounds of each.
#[cfg(target_arch = "x86_64")]
const SLICES: u64 = 20;
#[cfg(target_arch = "x86_64")]
const ROUNDS: u64 = 25_000;

/// A counted loop during which the thread leaves its CPU again and again: the system has
/// to save and restore its counters.
#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
pub(super) struct Switched {
    partner: Partner,
}

#[cfg(target_arch = "x86_64")]
impl Switched {
    pub(super) fn new(ground: &Ground) -> Result<Switched> {
        Ok(Switched { partner: Partner::new(ground)? })
    }
}

#[cfg(target_arch = "x86_64")]
impl Kernel for Switched {
    fn run(&mut self, work: Work) -> Result<()> {
        let rounds = 1 + work.of(ROUNDS);
        for _ in 0..SLICES {
            loops::two_instructions(rounds);
            self.partner.hand_over()?;
        }
        Ok(())
    }

    fn truth(&self, _: &Around) -> Truth {
        Truth::exactly(2 * SLICES * ROUNDS)
    }
}

/// Visits to the other CPU in one run.
const VISITS: u64 = 20;

/// Moves to another CPU and back.
#[derive(Debug)]
pub(super) struct Migrations {
    topology: Topology,
    other: Place,
}

impl Migrations {
    pub(super) fn new(ground: &Ground) -> Result<Migrations> {
        let topology = ground.topology.clone();
        let home = ground.place.cpu();
        let Some(other) = topology.allowed().iter().find(|cpu| *cpu != home) else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "cannot run the kernel migrations: this process may use cpu {home} only; \
                     allow it a second one"
                ),
            ));
        };
        let other = topology.place(other)?;
        Ok(Migrations { topology, other })
    }
}

impl Kernel for Migrations {
    fn run(&mut self, work: Work) -> Result<()> {
        for _ in 0..work.of(VISITS) {
            // Dropping it binds the thread to its home again.
            drop(Binding::bind(&self.topology, &self.other)?);
        }
        Ok(())
    }

    fn truth(&self, _: &Around) -> Truth {
        Truth::exactly(2 * VISITS)
    }
}
