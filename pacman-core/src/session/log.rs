//! The bounded log of a thread's single samples.

use std::ops::Range;

use crate::backend::Reading;
use crate::primitive::{AtomicU64, Ordering, own};

/// Words before the counts: set and phase, begin, end.
const HEADER: usize = 3;

/// A thread's samples in order, up to a bound; it counts the samples beyond the bound.
#[derive(Debug)]
pub(crate) struct Log {
    stride: usize,
    words: Box<[AtomicU64]>,
    length: AtomicU64,
    dropped: AtomicU64,
}

/// One logged execution, in ticks of the session's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) phase: u32,
    /// The set that was counted.
    pub(crate) set: u32,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// The counts of the widest set; those beyond the entry's own mean nothing.
    pub(crate) counts: Vec<u64>,
}

impl Log {
    pub(crate) fn new(capacity: usize, events: usize) -> Log {
        let stride = HEADER + events;
        Log {
            stride,
            words: (0..capacity * stride).map(|_| AtomicU64::new(0)).collect(),
            length: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// Appends an execution that ran over `ticks`, or counts it as dropped. Only
    /// the log's owner calls this.
    #[inline(never)]
    pub(crate) fn append(
        &self,
        phase: u32,
        set: u32,
        ticks: Range<u64>,
        begin: &Reading,
        end: &Reading,
    ) {
        let length = own(&self.length);
        let start = length as usize * self.stride;
        let Some(entry) = self.words.get(start..start + self.stride) else {
            self.dropped.store(own(&self.dropped) + 1, Ordering::Relaxed);
            return;
        };
        entry[0].store(u64::from(set) << 32 | u64::from(phase), Ordering::Relaxed);
        entry[1].store(ticks.start, Ordering::Relaxed);
        entry[2].store(ticks.end, Ordering::Relaxed);
        for ((word, end), begin) in entry[HEADER..].iter().zip(&end.counts).zip(&begin.counts) {
            word.store(end.wrapping_sub(*begin), Ordering::Relaxed);
        }
        // ATOMICS: pairs with the acquire load in `entries`: a reader of the new length
        // sees the entry below it, which never changes again.
        self.length.store(length + 1, Ordering::Release);
    }

    /// Every sample logged so far.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let length = self.length.load(Ordering::Acquire) as usize;
        self.words
            .chunks_exact(self.stride)
            .take(length)
            .map(|entry| Entry {
                phase: entry[0].load(Ordering::Relaxed) as u32,
                set: (entry[0].load(Ordering::Relaxed) >> 32) as u32,
                begin: entry[1].load(Ordering::Relaxed),
                end: entry[2].load(Ordering::Relaxed),
                counts: entry[HEADER..].iter().map(|w| w.load(Ordering::Relaxed)).collect(),
            })
            .collect()
    }

    /// The number of samples.
    pub(crate) fn len(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    /// The number of samples that found no room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let log = Log::new(2, 1);
        for n in 0..5u64 {
            let mut end = Reading::EMPTY;
            end.counts[0] = 10 * n;
            log.append(n as u32, 7, n..n + 1, &Reading::EMPTY, &end);
        }
        let entries = log.entries();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[1], Entry { phase: 1, set: 7, begin: 1, end: 2, counts: vec![10] });
        assert_eq!(log.dropped(), 3);
    }
}

/// Run as `slot::model` is.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitive::interleave;
    use loom::{model::Builder, sync::Arc};

    #[test]
    fn no_interleaving_shows_an_entry_before_it_is_written() {
        interleave(Builder::new(), || {
            let log = Arc::new(Log::new(2, 1));
            let writer = {
                let log = Arc::clone(&log);
                loom::thread::spawn(move || {
                    for n in 1..=3u64 {
                        let mut end = Reading::EMPTY;
                        end.counts[0] = n;
                        log.append(n as u32, 0, n..n + 1, &Reading::EMPTY, &end);
                    }
                })
            };
            let looks = [log.entries(), log.entries()];
            assert!(looks[0].len() <= looks[1].len(), "an entry stays");
            for (entry, n) in looks.iter().flat_map(|entries| entries.iter().zip(1..)) {
                let expected =
                    Entry { phase: n as u32, set: 0, begin: n, end: n + 1, counts: vec![n] };
                assert_eq!(*entry, expected);
            }
            writer.join().unwrap();
            assert_eq!((log.entries().len(), log.dropped()), (2, 1));
        });
    }
}
