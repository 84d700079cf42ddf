//! Start positions of workers when an oversubscribed team shrinks to fit the machine.
//!
//! Threads that outnumber the contexts share them. When a team shrinks, two members may go on sharing a
//! context beside an idle one until the kernel balances its queues. That is a time slice of
//! milliseconds in a sample of a fraction of one. A thread that waits in a queue cannot move itself.
//! So the primary thread binds each other member to a context while the member sleeps or waits. The
//! member takes its own mask back before it runs any of the program's code. It then stays where it is,
//! because a wider mask moves no thread.

use std::cell::{RefCell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::pid_t;
use pacman_regions::watch::affinity::{self, Mask, WORDS};

/// The other members of a primary thread's teams, by number.
pub(crate) struct TeamAffinity {
    members: Box<[Member]>,
}

/// A place in the team for one thread of this process.
struct Member {
    /// The thread that has this number, or [`NOBODY`].
    thread: AtomicI32,
    /// The thread that was bound under this number and gets [`own`](Member::own) back.
    displaced: AtomicI32,
    own: OwnMask,
}

const NOBODY: pid_t = 0;

/// A mask that one thread writes before another reads it.
#[derive(Default)]
struct OwnMask(UnsafeCell<Option<Mask>>);

// SAFETY: the primary thread writes it while `displaced` is empty. A reader first takes the thread
// out of `displaced`.
unsafe impl Sync for OwnMask {}

/// The affinities of one thread: of the teams that it starts, and its membership in another's.
#[derive(Default)]
pub(crate) struct TeamAffinities {
    own: RefCell<Option<Arc<TeamAffinity>>>,
    membership: RefCell<Option<Membership>>,
}

struct Membership {
    affinity: Arc<TeamAffinity>,
    number: u32,
    thread: pid_t,
}

impl Drop for Membership {
    /// Leaves the place, because the kernel will give the thread's number to another thread.
    fn drop(&mut self) {
        let slot = &self.affinity.members[self.number as usize].thread;
        let _ = slot.compare_exchange(self.thread, NOBODY, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl TeamAffinities {
    /// The crew of the calling thread, for teams of up to `contexts` threads.
    pub(crate) fn own(&self, contexts: u32) -> Arc<TeamAffinity> {
        let mut own = self.own.borrow_mut();
        Arc::clone(own.get_or_insert_with(|| Arc::new(TeamAffinity::new(contexts))))
    }

    /// The calling thread takes part as member `number` of the team. It gets its own mask back.
    pub(crate) fn take_part(&self, affinity: &Arc<TeamAffinity>, number: u32) {
        let Some(member) = affinity.members.get(number as usize) else { return };
        if number == 0 {
            return;
        }
        let known = |membership: &Membership| {
            Arc::ptr_eq(&membership.affinity, affinity)
                && membership.number == number
                && member.thread.load(Ordering::Relaxed) == membership.thread
        };
        let mut membership = self.membership.borrow_mut();
        if !membership.as_ref().is_some_and(known) {
            let thread = me();
            *membership = Some(Membership { affinity: Arc::clone(affinity), number, thread });
            member.thread.store(thread, Ordering::Relaxed);
        }
        member.take_back();
    }

    /// In the child of a fork: all members are threads of the parent.
    pub(crate) fn forget(&self) {
        self.own.take();
        std::mem::forget(self.membership.take());
    }
}

impl TeamAffinity {
    fn new(contexts: u32) -> TeamAffinity {
        let nobody = || Member {
            thread: AtomicI32::new(NOBODY),
            displaced: AtomicI32::new(NOBODY),
            own: OwnMask::default(),
        };
        TeamAffinity { members: (0..contexts).map(|_| nobody()).collect() }
    }

    /// Binds the other members of a team of `size` that the calling thread is about to start. Each gets
    /// the next of `cpus`, from this thread's own on.
    pub(crate) fn spread(&self, size: u32, cpus: &[u32]) {
        // SAFETY: it only returns a number.
        let here = unsafe { libc::sched_getcpu() };
        let Some(here) = cpus.iter().position(|&cpu| i64::from(cpu) == i64::from(here)) else {
            return;
        };
        for (number, member) in self.members.iter().enumerate().take(size as usize).skip(1) {
            member.go(cpus[(here + number) % cpus.len()]);
        }
    }

    /// The team has ended: a displaced thread that took no part gets its mask back as well.
    pub(crate) fn end(&self) {
        for member in self.members.iter().skip(1) {
            member.take_back();
        }
    }
}

impl Member {
    /// Binds the member to `cpu`, if its mask has that context and others.
    fn go(&self, cpu: u32) {
        let thread = self.thread.load(Ordering::Relaxed);
        if thread == NOBODY {
            return;
        }
        // A thread that has ended has no mask.
        let Some(own) = affinity::of(thread) else { return };
        if affinity::has(&own, cpu) && affinity::contexts(&own).nth(1).is_some() {
            // SAFETY: no thread reads it while `displaced` is empty.
            unsafe { *self.own.0.get() = Some(own) };
            // ATOMICS: a thread that takes it sees the mask. The store comes before the binding: to give
            // a thread its own mask back without need is harmless.
            self.displaced.store(thread, Ordering::Release);
            affinity::set(thread, &affinity::single(cpu));
        }
    }

    /// Gives the displaced thread its own mask back.
    fn take_back(&self) {
        if self.displaced.load(Ordering::Relaxed) == NOBODY {
            return;
        }
        // ATOMICS: as above.
        let thread = self.displaced.swap(NOBODY, Ordering::Acquire);
        // SAFETY: written before that, and not again until the next team.
        let own = unsafe { *self.own.0.get() };
        // To the kernel 0 is the calling thread.
        let (Some(own), 1..) = (own, thread) else { return };
        // A mask that was set does not grow when the process gets more processors later. The mask of
        // all processors is that of a thread that was never bound.
        affinity::set(thread, &[u64::MAX; WORDS]);
        if affinity::of(thread) != Some(own) {
            affinity::set(thread, &own);
        }
    }
}

fn me() -> pid_t {
    // SAFETY: it only returns a number.
    unsafe { libc::gettid() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    use super::*;

    /// A member that takes part on request, and answers its mask at that time.
    fn member(
        affinity: &Arc<TeamAffinity>,
        number: u32,
    ) -> (Sender<()>, Receiver<Vec<u32>>, pid_t) {
        let (tell, told) = channel();
        let (say, said) = channel();
        let affinity = Arc::clone(affinity);
        let (number_of, thread_of) = channel();
        thread::spawn(move || {
            number_of.send(me()).unwrap();
            let affinities = TeamAffinities::default();
            for () in told {
                affinities.take_part(&affinity, number);
                say.send(cpus(me())).unwrap();
            }
        });
        let thread = thread_of.recv().unwrap();
        (tell, said, thread)
    }

    fn cpus(thread: pid_t) -> Vec<u32> {
        affinity::contexts(&affinity::of(thread).expect("a thread of this process")).collect()
    }

    fn part(member: &(Sender<()>, Receiver<Vec<u32>>, pid_t)) -> Vec<u32> {
        member.0.send(()).unwrap();
        member.1.recv().unwrap()
    }

    #[test]
    fn members_wait_on_contexts_of_their_own_and_run_with_their_own_masks() {
        let all = cpus(me());
        let affinity = Arc::new(TeamAffinity::new(3));
        let (one, two) = (member(&affinity, 1), member(&affinity, 2));
        assert_eq!((part(&one), part(&two)), (all.clone(), all.clone()));

        affinity.spread(2, &all);
        if all.len() > 1 {
            let waits = cpus(one.2);
            assert_eq!(waits.len(), 1, "bound while it sleeps");
            assert!(all.contains(&waits[0]));
        }
        assert_eq!(cpus(two.2), all, "not a member of a team of two");
        assert_eq!(part(&one), all, "before any of the program's code");
        assert_eq!(cpus(one.2), all);

        affinity.spread(3, &all);
        assert_eq!(part(&two), all);
        affinity.end();
        assert_eq!(cpus(one.2), all, "although it took no part");
    }

    #[test]
    fn a_displaced_thread_gets_its_mask_back_when_another_takes_its_number() {
        let all = cpus(me());
        let affinity = Arc::new(TeamAffinity::new(2));
        let (one, other) = (member(&affinity, 1), member(&affinity, 1));
        part(&one);
        affinity.spread(2, &all);
        assert_eq!(part(&other), all);
        assert_eq!(cpus(one.2), all);
        affinity.spread(2, &all);
        assert_eq!(cpus(one.2), all, "the number is the other thread's now");
        assert_eq!(part(&other), all);
    }

    #[test]
    fn bound_threads_stay_and_ended_threads_are_left_out() {
        let all = cpus(me());
        let affinity = Arc::new(TeamAffinity::new(2));
        let one = member(&affinity, 1);
        part(&one);
        affinity::set(one.2, &affinity::single(all[0]));
        affinity.spread(2, &all);
        assert_eq!(part(&one), all[..1]);

        assert_ne!(affinity.members[1].thread.load(Ordering::Relaxed), NOBODY);
        let (tell, said, _) = one;
        drop(tell);
        // The channel closes when the thread drops its end.
        assert!(said.recv().is_err());
        while affinity.members[1].thread.load(Ordering::Relaxed) != NOBODY {
            thread::yield_now();
        }
        affinity.spread(2, &all);
        assert_eq!(affinity.members[1].displaced.load(Ordering::Relaxed), NOBODY);
    }
}
