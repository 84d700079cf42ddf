//! The iterations of a static loop for each of the threads that share it.

mod index;

#[cfg(test)]
mod tests;

pub(crate) use index::Index;

/// A loop as a compiler describes it to libomp, with inclusive bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Iterations<T> {
    pub(crate) lower: T,
    pub(crate) upper: T,
    /// The step of an iteration; negative if the loop counts down.
    pub(crate) step: i64,
}

/// The division of a static loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// One piece for each thread; the first ones may be one iteration longer.
    Balanced,
    /// Chunks of that many iterations, dealt out round robin. Less than one counts as one.
    Chunked(i64),
}

/// One thread's part of a loop.
///
/// Compiled code of a chunked loop runs from `lower` to `upper`, or to the loop's upper bound if that
/// comes first. Then it adds `stride` to both, and repeats while the chunk begins within the loop. A
/// balanced loop has one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share<T> {
    pub(crate) lower: T,
    pub(crate) upper: T,
    pub(crate) stride: i64,
    /// Whether the part has the loop's last iteration, for `lastprivate`.
    pub(crate) last: bool,
}

impl<T: Index> Iterations<T> {
    /// The number of iterations; `None` for none, and for more than the runtime's counter holds, where it
    /// wraps to 0. Both cases are left to the runtime.
    pub(crate) fn count(&self) -> Option<u64> {
        let (from, to) =
            if self.step > 0 { (self.lower, self.upper) } else { (self.upper, self.lower) };
        if self.step == 0 || to < from {
            return None;
        }
        let distance = to.widen().wrapping_sub(from.widen());
        let count = (distance / self.step.unsigned_abs()).checked_add(1)?;
        (count <= T::MOST).then_some(count)
    }

    /// The share of `thread` among `threads`, as libomp divides for a team of that size.
    ///
    /// `None` leaves the loop to the runtime, for all threads alike. That happens for a loop without
    /// iterations, and for one whose compiled code would step over the end of its type. The code does
    /// so with the runtime's shares as well, and this library must not change the outcome.
    pub(crate) fn share(&self, division: Division, thread: u32, threads: u32) -> Option<Share<T>> {
        let count = self.count()?;
        let (thread, threads) = (u64::from(thread), u64::from(threads));
        match division {
            Division::Balanced => Some(self.balanced(count, thread, threads)),
            Division::Chunked(chunk) => self.chunked(count, chunk, thread, threads),
        }
    }

    fn balanced(&self, count: u64, thread: u64, threads: u64) -> Share<T> {
        let (each, extra) = (count / threads, count % threads);
        let size = each + u64::from(thread < extra);
        if thread >= threads || size == 0 {
            return self.empty(count as i64);
        }
        let first = thread * each + thread.min(extra);
        let end = first + size;
        Share {
            lower: self.at(first),
            upper: self.at(end - 1),
            stride: count as i64,
            last: end == count,
        }
    }

    fn chunked(&self, count: u64, chunk: i64, thread: u64, threads: u64) -> Option<Share<T>> {
        let chunk = (chunk.max(1) as u64).min(count);
        let chunks = count.div_ceil(chunk);
        let turn = chunk.checked_mul(chunks.min(threads))?;
        // The furthest value of compiled code: the last chunk's end plus the stride.
        let furthest = ((chunks - 1) * chunk).checked_add(turn)?.checked_add(chunk)?;
        let reach = i128::from(self.step).checked_mul(i128::from(furthest))?;
        let beyond = self.lower.exact().checked_add(reach)?;
        if beyond < T::RANGE.0 || beyond > T::RANGE.1 {
            return None;
        }
        let stride = i64::try_from(i128::from(self.step) * i128::from(turn)).ok()?;
        if thread >= threads || thread >= chunks {
            return Some(self.empty(stride));
        }
        let first = thread * chunk;
        Some(Share {
            lower: self.at(first),
            upper: self.at(first + chunk - 1),
            stride,
            last: thread == (chunks - 1) % threads,
        })
    }

    fn at(&self, iteration: u64) -> T {
        // In two's complement the product wraps to the right value for every type.
        let offset = iteration.wrapping_mul(self.step as u64);
        T::narrow(self.lower.widen().wrapping_add(offset))
    }

    /// An empty share: the lower bound is one beyond the upper, as in the runtime's empty shares.
    ///
    /// At the end of the type the runtime's form would wrap to the whole loop. The runtime has empty
    /// shares only for short loops, this library also for long ones.
    fn empty(&self, stride: i64) -> Share<T> {
        let (one, limit) = if self.step > 0 { (1, T::RANGE.1) } else { (-1, T::RANGE.0) };
        let moved = |from: T, by: i64| T::narrow(from.widen().wrapping_add(by as u64));
        let (lower, upper) = if self.upper.exact() == limit {
            (self.upper, moved(self.upper, -one))
        } else {
            (moved(self.upper, one), self.upper)
        };
        Share { lower, upper, stride, last: false }
    }
}
