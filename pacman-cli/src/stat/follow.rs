//! Following every thread and process of the command, by ptrace(2).
//!
//! A new thread stops before its first instruction, gets its counters and its place, and goes on.
//! Before its end it stops again, and its counts are read. In between, system calls do not stop it,
//! and signals are passed on at once.

mod attach;
mod let_go;

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use pacman_core::backend::Target;
use pacman_core::{Error, Topology};

use super::affinity::ThreadPlaces;
use super::ptrace::{self, Stop};
use super::run::{Advance, Collector};
use super::sets::{EventSets, SetCounters};
use super::thread::{self, Span, Thread};
use crate::signals::Signals;
use pacman_events::plural::number;
use pacman_report::exit::Exit;
use pacman_report::stat::{Figures, Row, Seat, Who};

/// Everything that is followed.
pub(super) struct Follower<'a> {
    sets: &'a EventSets,
    topology: &'a Topology,
    places: ThreadPlaces,
    /// Every thread there ever was, in the order of their coming.
    threads: Vec<Thread>,
    /// The followed ones, by id; before the command began it has no thread.
    alive: HashMap<i32, Option<usize>>,
    /// New threads that have not stopped for the first time.
    coming: HashSet<i32>,
    /// Threads of programs that trace themselves, by id: they are counted with all that they make, and not traced.
    apart: HashMap<i32, usize>,
    /// Threads that ptrace could not detach. They stay stopped until this process ends.
    stuck: HashSet<i32>,
    main: i32,
    state: State,
    /// It ran before, and another process waits for it.
    attached: bool,
    /// The command whose end ends the count of an attached process.
    duration: Option<i32>,
    began: Instant,
}

/// The note of such a thread.
const APART: &str = "its program traces threads itself, and is not followed: all threads and processes that it makes \
                     are counted with it";

/// The state of the command.
enum State {
    /// It was not begun.
    Waiting,
    Running,
    /// It could not be counted, and was not begun.
    Uncounted(Error),
    Ended(Exit),
}

/// Stops handled in one go before signals and the time are looked at again.
const BATCH: usize = 256;

impl<'a> Follower<'a> {
    /// Follows a child that was seized and waits to become the command.
    pub(super) fn new(
        sets: &'a EventSets,
        places: ThreadPlaces,
        main: i32,
        topology: &'a Topology,
    ) -> Follower<'a> {
        Follower {
            sets,
            topology,
            places,
            threads: Vec::new(),
            alive: HashMap::from([(main, None)]),
            coming: HashSet::new(),
            stuck: HashSet::new(),
            apart: HashMap::new(),
            main,
            state: State::Waiting,
            attached: false,
            duration: None,
            began: Instant::now(),
        }
    }

    /// Handles a stop and lets the thread go on.
    ///
    /// # Errors
    /// If ptrace refuses a request; the thread is not followed any more then.
    fn handle(&mut self, tid: i32, stop: Stop) -> io::Result<()> {
        if let Some(exit) = stop.exit() {
            self.gone(tid, exit);
            return Ok(());
        }
        // The parent's stop for this thread may come before or after this stop.
        if !self.alive.contains_key(&tid) {
            self.admit(tid);
        }
        let mut handled = Ok(());
        match stop {
            Stop::Child => self.expect(tid),
            Stop::Exec => handled = self.exec(tid),
            Stop::Exiting => self.end(tid),
            _ => {}
        }
        let went_on = handled.and_then(|()| match stop {
            Stop::Exec if self.apart.contains_key(&tid) => ptrace::detach(tid, 0),
            Stop::Group(_) => ptrace::stay_stopped(tid),
            // Without a tracer it ends by its next try.
            Stop::Signal(signal)
                if ptrace::is_fault(tid, signal) && thread::is_spared(tid, signal) =>
            {
                self.detach(tid, signal);
                Ok(())
            }
            _ => ptrace::go_on(tid, stop.signal()),
        });
        // It must not stay stopped.
        went_on.inspect_err(|_| self.detach(tid, stop.signal()))
    }

    /// A thread has made another one, unless that has stopped already.
    fn expect(&mut self, tid: i32) {
        let known = |child: &i32| self.threads.iter().any(|thread| thread.tid == *child);
        // If ptrace does not give the child, the child's own stop shows it.
        let child = ptrace::message(tid).ok().flatten();
        self.coming.extend(child.filter(|child| !known(child)));
    }

    /// Gives a thread its place and its counters before it goes on.
    fn admit(&mut self, tid: i32) {
        let counters = self.sets.open(Target::Thread(tid));
        self.admit_with(tid, counters);
    }

    /// Counts a thread that begins a program that traces with all that it makes, and will not trace it.
    /// False if the kernel cannot.
    fn admit_apart(&mut self, tid: i32) -> bool {
        let Ok(counters) = self.sets.open(Target::Tree(tid)) else { return false };
        self.admit_with(tid, Ok(counters));
        if let Some(Some(thread)) = self.alive.remove(&tid) {
            self.apart.insert(tid, thread);
            self.threads[thread].notes.push(APART.to_owned());
        }
        true
    }

    fn admit_with(&mut self, tid: i32, counters: Result<SetCounters, Error>) {
        self.coming.remove(&tid);
        let process = self.process_of(tid);
        self.bind_waiting(process);
        let seat = self.places.take(tid, process == tid);
        if let (State::Waiting, Err(error)) = (&self.state, &counters) {
            self.state = State::Uncounted(error.clone());
            // SAFETY: kill has no preconditions; the child is not reaped yet.
            unsafe { libc::kill(tid, libc::SIGKILL) };
        }
        let mut thread = Thread::new(process, tid, seat.as_ref().ok().copied().flatten(), counters);
        thread.notes.extend(seat.err().map(|error| error.to_string()));
        self.alive.insert(tid, Some(self.threads.len()));
        self.threads.push(thread);
    }

    /// The process of a thread. The kernel says whether a known one has it, where `/proc` does not.
    fn process_of(&self, tid: i32) -> i32 {
        let known = self.threads.iter().filter(|thread| !thread.has_ended());
        let mut known = known.map(|thread| thread.pid);
        // SAFETY: signal 0 is none.
        let has = |pid: &i32| unsafe { libc::syscall(libc::SYS_tgkill, *pid, tid, 0) } == 0;
        thread::process_of(tid).or_else(|| known.find(has)).unwrap_or(tid)
    }

    /// Binds the first thread of a process, which has now made another one.
    fn bind_waiting(&mut self, process: i32) {
        let Some(Some(first)) = self.alive.get(&process).copied() else { return };
        let first = &mut self.threads[first];
        let waits = first.waits() && !first.has_ended();
        let Some(place) = first.place().copied().filter(|_| waits) else { return };
        match self.places.bind(process, &place) {
            Ok(()) => first.was_bound(),
            Err(problem) => first.notes.push(problem.to_string()),
        }
    }

    /// A process that begins another program may use all places again.
    fn loosen(&mut self, tid: i32) {
        let Some(Some(first)) = self.alive.get(&tid).copied() else { return };
        let first = &mut self.threads[first];
        if first.bound().is_some() && self.places.are_several() && self.places.loosen(tid).is_ok() {
            first.was_loosened();
        }
    }

    /// The thread runs another program. If it was not the first of its process, it has taken
    /// the first one's id, and all others of the process have ended.
    fn exec(&mut self, tid: i32) -> io::Result<()> {
        let former = ptrace::message(tid)?.unwrap_or(tid);
        if former != tid {
            let became = self.alive.get(&former).copied().flatten();
            self.end(tid);
            self.end(former);
            self.alive.remove(&former);
            if let Some(thread) = became {
                let note = format!("became thread {tid} when it began another program");
                self.threads[thread].notes.push(note);
            }
            self.admit(tid);
        } else if self.alive.get(&tid) == Some(&None) {
            let began = Instant::now();
            if !(ptrace::traces(tid) && self.admit_apart(tid)) {
                self.admit(tid);
            }
            if matches!(self.state, State::Waiting) {
                (self.state, self.began) = (State::Running, began);
            }
        } else if ptrace::traces(tid) {
            self.end(tid);
            self.alive.remove(&tid);
            if !self.admit_apart(tid) {
                self.admit(tid);
            }
        } else {
            self.loosen(tid);
        }
        Ok(())
    }

    /// Reads a thread for the last time.
    fn end(&mut self, tid: i32) {
        let traced = self.alive.get(&tid).copied().flatten();
        let Some(thread) = traced.or_else(|| self.apart.get(&tid).copied()) else { return };
        let thread = &mut self.threads[thread];
        if !thread.has_ended() {
            thread.end();
            if let Some(place) = thread.place() {
                self.places.leave(place);
            }
        }
    }

    fn gone(&mut self, tid: i32, exit: Exit) {
        // A killed thread may not have stopped before.
        self.end(tid);
        self.alive.remove(&tid);
        self.apart.remove(&tid);
        self.coming.remove(&tid);
        if tid == self.main && self.duration.is_none() {
            self.state = State::Ended(exit);
        }
    }

    /// A row of a thread that counted `span`.
    fn row(&self, number: usize, span: Span) -> Row {
        let thread = &self.threads[number];
        let cpu = thread.bound().map(|place| place.cpu()).or(thread.cpu);
        let context = cpu.and_then(|cpu| self.topology.context(cpu));
        Row {
            who: Who::Thread {
                number,
                pid: thread.pid,
                tid: thread.tid,
                name: thread.name.clone(),
            },
            seat: context.map(Seat::of),
            bound: thread.bound().is_some(),
            moved: thread.moved(),
            figures: Figures {
                missing: usize::from(span.counts.is_none()),
                counts: span.counts,
                time: span.time,
                derived: None,
            },
            notes: thread.notes.clone(),
            implausible: None,
        }
    }
}

impl Collector for Follower<'_> {
    fn start(&mut self) {}

    fn advance(&mut self) -> io::Result<Advance> {
        for _ in 0..BATCH {
            let Some((tid, stop)) = ptrace::next_stop()? else { return Ok(Advance::Waiting) };
            // The child only sets the length of the run.
            if let Some(exit) = stop.exit().filter(|_| self.duration == Some(tid)) {
                return Ok(Advance::Ended(exit));
            }
            let handled = self.handle(tid, stop);
            match &self.state {
                State::Waiting | State::Running => {
                    if let Err(error) = handled {
                        return Ok(Advance::Lost(error));
                    }
                }
                State::Uncounted(error) => return Ok(Advance::Refused(error.clone().into())),
                State::Ended(_) if self.threads.is_empty() => return Ok(Advance::NotBegun),
                State::Ended(exit) => return Ok(Advance::Ended(*exit)),
            }
        }
        Ok(Advance::More)
    }

    fn look(&mut self) {
        self.threads.iter_mut().for_each(Thread::look);
    }

    fn whole(&mut self) -> Vec<Row> {
        let spans = self.threads.iter().map(Thread::whole);
        spans.enumerate().map(|(number, span)| self.row(number, span)).collect()
    }

    fn since_mark(&mut self) -> Vec<Row> {
        let spans: Vec<Option<Span>> = self.threads.iter_mut().map(Thread::since_mark).collect();
        let rows = spans.into_iter().enumerate();
        rows.filter_map(|(number, span)| Some(self.row(number, span?))).collect()
    }

    fn running(&self) -> String {
        number(self.alive.values().flatten().count(), "thread")
    }

    fn let_go(&mut self, signals: &Signals) -> io::Result<Vec<String>> {
        let outlived = self.detach_all(signals)?;
        let mut notes = Vec::new();
        if outlived > 0 && !self.attached {
            let threads = number(outlived, "thread");
            notes.push(match self.state {
                State::Ended(_) => format!(
                    "{threads} outlived the command: counted until then, and not followed further"
                ),
                _ if outlived == 1 => {
                    "1 thread of the command still runs and is no longer counted".into()
                }
                _ => format!("{threads} of the command still run and are no longer counted"),
            });
        }
        if self.places.were_shared() {
            notes.push("there were more threads than places at one time: some shared one".into());
        }
        Ok(notes)
    }

    fn abandon(&mut self, signals: &Signals) -> io::Result<()> {
        self.detach_all(signals)?;
        if self.attached { Ok(()) } else { self.outlast(signals) }
    }

    fn follows_command(&self) -> bool {
        !self.attached
    }

    fn is_simulated(&self) -> bool {
        self.threads.iter().any(Thread::is_simulated)
    }

    fn time(&self) -> Duration {
        self.began.elapsed()
    }
}
