//! One followed thread: its counters, and what `/proc` knows of it.

use std::time::{Duration, Instant};
use std::{fs, io};

use pacman_core::{Error, platform};
use pacman_topology::placement::Place;
use pacman_topology::process_files;

use super::affinity::Taken;
use super::sets::SetCounters;
use pacman_report::stat::Count;

/// A thread of the command, from its first instruction on.
pub(super) struct Thread {
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) name: String,
    /// Its place, if it has one.
    place: Option<Place>,
    /// It may run on all places until another thread of its process comes.
    waits: bool,
    /// The CPU that it was seen on last.
    pub(super) cpu: Option<u32>,
    pub(super) notes: Vec<String>,
    counters: Option<SetCounters>,
    /// One count for each event.
    first: Vec<Count>,
    last: Vec<Count>,
    /// The reading at the begin of the present interval.
    mark: Vec<Count>,
    began: Instant,
    marked: Instant,
    ended: Option<Instant>,
    migrations: Option<u64>,
    moved: bool,
    simulated: bool,
    /// Every read of its counters worked.
    whole: bool,
}

/// The counts of a thread, in all or since the last mark.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    /// `None` if its counters could not be opened or read.
    pub(super) counts: Option<Vec<Count>>,
    /// The time that the thread ran.
    pub(super) time: Duration,
}

impl Thread {
    /// Takes over a thread of process `pid` that is stopped, with its counters or with why there are none.
    pub(super) fn new(
        pid: i32,
        tid: i32,
        seat: Option<Taken>,
        counters: Result<SetCounters, Error>,
    ) -> Thread {
        let now = Instant::now();
        let mut thread = Thread {
            pid,
            tid,
            name: String::new(),
            place: seat.map(|seat| seat.place),
            waits: seat.is_some_and(|seat| seat.waits),
            cpu: None,
            notes: Vec::new(),
            counters: None,
            first: Vec::new(),
            last: Vec::new(),
            mark: Vec::new(),
            began: now,
            marked: now,
            ended: None,
            migrations: migrations(tid),
            moved: false,
            simulated: false,
            whole: false,
        };
        match counters {
            Ok(counters) => {
                thread.simulated = counters.caps().simulated;
                thread.counters = Some(counters);
                thread.whole = true;
            }
            Err(error) => thread.notes.push(format!("not counted: {error}")),
        }
        thread.look();
        thread.first.clone_from(&thread.last);
        thread.mark.clone_from(&thread.last);
        thread
    }

    /// Reads its counters and where it is, as long as it is there.
    pub(super) fn look(&mut self) {
        if self.ended.is_some() {
            return;
        }
        if let Some(counters) = &mut self.counters {
            let mut now = self.last.clone();
            match counters.read(&mut now) {
                Ok(()) => self.last = now,
                Err(error) => {
                    self.notes.push(format!("counted in part: {error}"));
                    (self.counters, self.whole) = (None, false);
                }
            }
        }
        if let Some(name) = file(self.tid, "comm") {
            self.name = name.trim_end_matches('\n').to_string();
        }
        if let Some(cpu) = platform::current().cpu_of(self.tid) {
            // A bound thread can only have run elsewhere before it was bound, which is not a move.
            self.moved |= self.bound().is_none() && self.cpu.is_some_and(|before| before != cpu);
            self.cpu = Some(cpu);
        }
        self.moved |= match (self.migrations, migrations(self.tid)) {
            (Some(before), Some(now)) => self.bound().is_none() && now > before,
            _ => false,
        };
    }

    /// Reads the thread for the last time and closes its counters.
    pub(super) fn end(&mut self) {
        if self.ended.is_none() {
            self.look();
            self.ended = Some(Instant::now());
            self.counters = None;
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Its place, whether or not it is bound there.
    pub(super) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The place to which the thread is bound.
    pub(super) fn bound(&self) -> Option<&Place> {
        self.place.as_ref().filter(|_| !self.waits)
    }

    /// Whether the thread has a place and is not bound to it yet.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// Notes that the thread was bound to its place. It can no longer run elsewhere.
    pub(super) fn was_bound(&mut self) {
        self.look();
        self.waits = false;
        // Until now the thread was allowed at any place.
        self.moved |=
            self.place.is_some_and(|place| self.cpu.is_some_and(|cpu| cpu != place.cpu()));
    }

    /// It may run on all places again.
    pub(super) fn was_loosened(&mut self) {
        self.waits = true;
    }

    /// The thread left a CPU for another one, or was elsewhere before it was bound, as far as is
    /// known.
    pub(super) fn moved(&self) -> bool {
        self.moved
            || self.bound().is_some_and(|place| self.cpu.is_some_and(|cpu| cpu != place.cpu()))
    }

    pub(super) fn is_simulated(&self) -> bool {
        self.simulated
    }

    /// Everything since it began.
    pub(super) fn whole(&self) -> Span {
        self.span(&self.first, self.began)
    }

    /// Everything since the last call of this, unless it had ended by then.
    pub(super) fn since_mark(&mut self) -> Option<Span> {
        if self.ended.is_some_and(|ended| ended < self.marked) {
            return None;
        }
        let span = self.span(&self.mark, self.marked);
        self.mark.clone_from(&self.last);
        self.marked = Instant::now();
        Some(span)
    }

    fn span(&self, from: &[Count], begin: Instant) -> Span {
        let since = || self.last.iter().zip(from).map(|(now, then)| now.since(*then)).collect();
        // A count that broke off is worse than none.
        let counts = self.whole.then(since);
        let end = self.ended.unwrap_or_else(Instant::now);
        Span { counts, time: end.saturating_duration_since(begin) }
    }
}

/// A file of a thread in `/proc`.
fn file(tid: i32, name: &str) -> Option<String> {
    fs::read_to_string(format!("{}/{name}", process_files::of_thread(tid)?)).ok()
}

/// The process of a thread; `None` if it has ended, or `/proc` is of another namespace.
pub(super) fn process_of(tid: i32) -> Option<i32> {
    file(tid, "status")?.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Whether the thread has not ended, or nobody has waited for it.
pub(super) fn is_there(tid: i32) -> bool {
    // SAFETY: signal 0 is none.
    let found = unsafe { libc::kill(tid, 0) } == 0;
    found || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Whether the kernel spares the process of the thread this signal: it is the first of its namespace of processes, and has
/// no handler. Of a traced thread the kernel spares it even a fault, over and over again.
pub(super) fn is_spared(tid: i32, signal: i32) -> bool {
    let Some(status) = file(tid, "status") else { return false };
    let field = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.split_whitespace().next_back()
    };
    let caught = field("SigCgt:").and_then(|caught| u64::from_str_radix(caught, 16).ok());
    let is_caught = caught.is_some_and(|caught| caught >> (signal - 1) & 1 == 1);
    field("NStgid:") == Some("1") && !is_caught
}

/// The number of times that the kernel moved the thread, if it shows that (`CONFIG_SCHED_DEBUG`).
fn migrations(tid: i32) -> Option<u64> {
    // On a simulated machine threads stay at their simulated place, although the real thread may
    // move.
    if platform::current().simulation().is_some() {
        return None;
    }
    let sched = file(tid, "sched")?;
    let line = sched.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_thread_is_found() {
        // SAFETY: gettid takes nothing and cannot fail.
        let tid = unsafe { libc::gettid() };
        assert_eq!(process_of(tid), Some(std::process::id() as i32));
    }
}
