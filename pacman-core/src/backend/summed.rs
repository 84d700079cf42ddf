//! Events that are sums of counts, or stand in another order than the counters.

use super::{Backend, Caps, Counters, Reading, Target};
use pacman_events::Result;

/// The contribution of one count to one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) coefficient: i64,
}

/// How counts become events, given each count's contributions; `None` where they are the same, one
/// by one.
pub(crate) fn sums(all: impl Iterator<Item = Sum>) -> Option<Vec<Sum>> {
    let sums: Vec<Sum> = all.collect();
    let in_place = |(at, sum): (usize, &Sum)| (sum.from, sum.to, sum.coefficient) == (at, at, 1);
    let plain = sums.iter().enumerate().all(in_place);
    (!plain).then_some(sums)
}

/// Counters whose counts are put in another order, or added up to events.
pub(crate) struct SummedCounters {
    counters: Box<dyn Counters>,
    sums: Vec<Sum>,
}

impl SummedCounters {
    pub(crate) fn new(counters: Box<dyn Counters>, sums: Vec<Sum>) -> SummedCounters {
        SummedCounters { counters, sums }
    }
}

impl Counters for SummedCounters {
    fn read(&self, into: &mut Reading) -> Result<()> {
        let mut read = Reading::EMPTY;
        self.counters.read(&mut read)?;
        for sum in &self.sums {
            into.counts[sum.to] = 0;
        }
        for sum in &self.sums {
            // Wraps where a term is subtracted; differences come out right all the same.
            let part = read.counts[sum.from].wrapping_mul(sum.coefficient as u64);
            into.counts[sum.to] = into.counts[sum.to].wrapping_add(part);
        }
        (into.enabled_ns, into.running_ns) = (read.enabled_ns, read.running_ns);
        Ok(())
    }

    fn caps(&self) -> Caps {
        self.counters.caps()
    }

    fn verify(&mut self) -> Result<()> {
        self.counters.verify()
    }

    fn stand_by(&mut self) -> Result<bool> {
        self.counters.stand_by()
    }

    fn resume(&mut self) -> Result<()> {
        self.counters.resume()
    }
}

/// A backend whose counts are added up to events.
pub(crate) struct Summed<B> {
    pub(crate) backend: B,
    pub(crate) sums: Vec<Sum>,
}

impl<B: Backend> Backend for Summed<B> {
    fn open(&self, target: Target) -> Result<Box<dyn Counters>> {
        let counters = self.backend.open(target)?;
        Ok(Box::new(SummedCounters::new(counters, self.sums.clone())))
    }
}
