//! The end of tracing: threads go on without a tracer.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use super::{Follower, State};
use crate::signals::{Signals, Wake};
use crate::stat::ptrace::{self, Stop};
use crate::stat::thread;

/// The time that threads get to stop after the command's end, so that they can be detached.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two looks for ended children. Pending SIGCHLDs merge, so the end of a child may
/// send no signal.
const LOOK_ANYWAY: Duration = Duration::from_millis(500);

impl Follower<'_> {
    /// Detaches a stopped thread. It goes on with `signal`, or without one if that is 0.
    pub(super) fn detach(&mut self, tid: i32, signal: i32) {
        self.end(tid);
        match ptrace::detach(tid, signal) {
            Ok(()) => drop(self.alive.remove(&tid)),
            Err(_) => drop(self.stuck.insert(tid)),
        }
    }

    /// Detaches every thread. Answers the number of threads that had not ended.
    ///
    /// Only a stopped thread can be detached. A thread that does not stop in time goes on when this
    /// process ends.
    pub(super) fn detach_all(&mut self, signals: &Signals) -> io::Result<usize> {
        // New threads in `coming` stop by themselves.
        for tid in self.alive.keys() {
            // An error needs no action, because the loop below ends at the deadline.
            let _ = ptrace::interrupt(*tid);
        }
        self.alive.extend(self.coming.drain().map(|tid| (tid, None)));
        let deadline = Instant::now() + PATIENCE;
        let mut detached: HashSet<i32> = HashSet::new();
        let mut outlived = 0;
        while self.alive.keys().any(|tid| !self.stuck.contains(tid)) && Instant::now() < deadline {
            let Some((tid, stop)) = ptrace::next_stop()? else {
                signals.wait(deadline)?;
                continue;
            };
            if let Some(exit) = stop.exit() {
                self.gone(tid, exit);
                continue;
            }
            if stop == Stop::Child {
                self.expect(tid);
                let coming = self.coming.drain().filter(|child| !detached.contains(child));
                self.alive.extend(coming.map(|child| (child, None)));
            }
            let known = self.alive.contains_key(&tid);
            self.detach(tid, stop.signal());
            detached.insert(tid);
            let goes_on = known && !self.stuck.contains(&tid) && stop != Stop::Exiting;
            outlived += usize::from(goes_on);
        }
        outlived += self.alive.len();
        for tid in self.alive.keys().copied().collect::<Vec<i32>>() {
            self.end(tid);
        }
        for tid in self.apart.keys().copied().collect::<Vec<i32>>() {
            self.end(tid);
            outlived += usize::from(thread::is_there(tid));
        }
        Ok(outlived)
    }

    /// Waits for the end of the command, after all its threads were detached.
    ///
    /// Returns at once if a thread could not be detached, because that thread goes on only when
    /// this process ends.
    pub(super) fn outlast(&mut self, signals: &Signals) -> io::Result<()> {
        let mut asked = false;
        while self.alive.is_empty() && !matches!(self.state, State::Ended(_)) {
            match ptrace::next_stop()? {
                Some((tid, stop)) => match stop.exit() {
                    Some(exit) => self.gone(tid, exit),
                    // An unknown thread.
                    None => self.detach(tid, stop.signal()),
                },
                None => match signals.wait(Instant::now() + LOOK_ANYWAY)? {
                    Wake::Signal(sent) if sent.asks_to_end() && asked => return Ok(()),
                    Wake::Signal(sent) => {
                        asked |= sent.asks_to_end();
                        sent.pass_on(self.main);
                    }
                    Wake::Child | Wake::Time => {}
                },
            }
        }
        signals.asked_to_end().map(drop)
    }
}
