//! Requests for chunks among the waits of a thread.

use pacman_regions::Cause;

use super::chunks::Requests;
use super::state::WaitState;

impl WaitState {
    /// A request for a chunk that returns to `caller` is to be timed, at `now`.
    pub(crate) fn arrives(&self, caller: u64, now: u64) {
        if let Some(before) = self.chunks.arrives(caller, now, self.not_worked()) {
            self.add_requests(before);
        }
    }

    /// The request took `ticks`.
    pub(crate) fn ended_request(&self, ticks: u64, is_last: bool, now: impl Fn() -> u64) {
        self.chunks.ended(ticks, is_last, self.waited.get(), now);
    }

    /// Adds the requests of the present loop: the part ends at `now`, or another one begins inside of it.
    pub(super) fn add_rest(&self, now: u64) {
        if let Some(rest) = self.chunks.rest(now, self.not_worked()) {
            self.add_requests(rest);
        }
    }

    fn add_requests(&self, Requests { caller, count, ticks }: Requests) {
        let only_counted = count.saturating_sub(self.chunks.take_timed());
        self.only_counted.set(self.only_counted.get() + only_counted);
        self.waited.set(self.waited.get() + ticks);
        self.add_sum((caller, Cause::Chunks), count, ticks);
    }
}
