//! The agreement of a team's threads on one width. README.md in this folder has the protocol.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU16, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU16, Ordering};

/// The widths of the present epoch and the next. Thread 0 writes, all threads read.
#[derive(Debug)]
pub(crate) struct Ring<const SLOTS: usize = 2> {
    slots: [AtomicU16; SLOTS],
}

impl<const SLOTS: usize> Ring<SLOTS> {
    /// A ring with the width of epoch 0.
    pub(crate) fn new(first: u16) -> Ring<SLOTS> {
        Ring { slots: std::array::from_fn(|_| AtomicU16::new(first)) }
    }

    /// Sets the width of `epoch`. Only thread 0 calls this, in the epoch before.
    #[inline]
    pub(crate) fn publish(&self, epoch: u32, width: u16) {
        // ATOMICS: the next barrier orders the store before every load.
        self.slots[epoch as usize % SLOTS].store(width, Ordering::Relaxed);
    }

    /// The width of `epoch`, which must be the calling thread's epoch.
    #[inline]
    pub(crate) fn read(&self, epoch: u32) -> u16 {
        // ATOMICS: thread 0 stored the width before the barrier that began the epoch. The next store
        // follows the barrier that ends the epoch, which this thread has not entered.
        self.slots[epoch as usize % SLOTS].load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_keeps_its_width_while_the_next_one_gets_its_own() {
        let ring: Ring = Ring::new(8);
        ring.publish(1, 3);
        assert_eq!((ring.read(0), ring.read(1)), (8, 3));
        ring.publish(2, u16::MAX);
        assert_eq!((ring.read(2), ring.read(1)), (u16::MAX, 3));
    }
}

/// Run with `RUSTFLAGS="--cfg loom" cargo test -p pacman-omp --lib --release ring`; three threads take a
/// while.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::model::Builder;
    use loom::sync::{Arc, Condvar, Mutex};
    use pacman_suite::interleave;

    /// A barrier that blocks, because loom would explore the steps of two spinning threads without end.
    struct Barrier {
        threads: usize,
        arrived: Mutex<usize>,
        departs: Condvar,
    }

    impl Barrier {
        fn wait(&self, epoch: u32) {
            let all = self.threads * (epoch as usize + 1);
            let mut arrived = self.arrived.lock().unwrap();
            *arrived += 1;
            if *arrived == all {
                self.departs.notify_all();
            }
            while *arrived < all {
                arrived = self.departs.wait(arrived).unwrap();
            }
        }
    }

    fn width(epoch: u32) -> u16 {
        1 + epoch as u16
    }

    /// A thread reads in every epoch; thread 0 publishes the next before its barrier.
    fn body<const SLOTS: usize>(team: &(Ring<SLOTS>, Barrier), thread: usize, epochs: u32) {
        for epoch in 0..epochs {
            assert_eq!(team.0.read(epoch), width(epoch), "thread {thread}");
            if thread == 0 {
                team.0.publish(epoch + 1, width(epoch + 1));
            }
            team.1.wait(epoch);
        }
    }

    fn run<const SLOTS: usize>(threads: usize, epochs: u32) {
        interleave(Builder::new(), move || {
            let team = Arc::new((
                Ring::<SLOTS>::new(width(0)),
                Barrier { threads, arrived: Mutex::new(0), departs: Condvar::new() },
            ));
            let others: Vec<_> = (1..threads)
                .map(|thread| {
                    let team = Arc::clone(&team);
                    loom::thread::spawn(move || body(&team, thread, epochs))
                })
                .collect();
            body(&team, 0, epochs);
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }

    #[test]
    fn all_threads_read_the_same_width_in_every_epoch() {
        run::<2>(2, 4);
    }

    #[test]
    fn three_threads_do_too() {
        run::<2>(3, 2);
    }

    #[test]
    #[should_panic(expected = "thread")]
    fn one_slot_would_not_do() {
        run::<1>(2, 3);
    }
}
