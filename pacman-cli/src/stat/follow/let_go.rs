//! The end of following: threads that go on without a tracer.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use super::{Follower, State};
use crate::signals::{Signals, Wake};
use crate::stat::ptrace::{self, Stop};

/// How long threads that outlive the command get to stop, so that they can be let go.
const PATIENCE: Duration = Duration::from_secs(1);
/// Signals of one kind merge, so the end of a child may come unannounced.
const LOOK_ANYWAY: Duration = Duration::from_millis(500);

impl Follower<'_> {
    /// Detaches a stopped thread, which goes on with a signal or with none (0).
    pub(super) fn detach(&mut self, tid: i32, signal: i32) {
        self.end(tid);
        match ptrace::detach(tid, signal) {
            Ok(()) => drop(self.alive.remove(&tid)),
            Err(_) => drop(self.stuck.insert(tid)),
        }
    }

    /// Detaches every thread; answers how many of them had not ended.
    ///
    /// Only a stopped thread can be detached. One that does not stop in time goes on when this
    /// process ends.
    pub(super) fn detach_all(&mut self, signals: &Signals) -> io::Result<usize> {
        // Those that are only coming stop by themselves.
        for tid in self.alive.keys() {
            // One that cannot be asked to stop is not waited for beyond the deadline.
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
        Ok(outlived)
    }

    /// Waits for the end of the command, of which nobody is followed any more.
    ///
    /// Returns at once where a thread could not be detached: it goes on when this process ends.
    pub(super) fn outlast(&mut self, signals: &Signals) -> io::Result<()> {
        let mut asked = false;
        while self.alive.is_empty() && !matches!(self.state, State::Ended(_)) {
            match ptrace::next_stop()? {
                Some((tid, stop)) => match stop.exit() {
                    Some(exit) => self.gone(tid, exit),
                    // A thread that nobody knew.
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
