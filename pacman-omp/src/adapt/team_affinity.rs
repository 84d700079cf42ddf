//! Where the members of a team begin that is narrowed to no more threads than there are contexts.
//!
//! Threads that outnumber the contexts share them. When some are left out, two of those that stay
//! may go on sharing one beside an idle one, until a tick evens the queues out: that is a time
//! slice of milliseconds in a sample of a fraction of one. A thread that waits in a queue cannot
//! move itself, so whoever starts the team binds the others to a context each, while they sleep or
//! wait; each takes its own mask back before it runs any of the program's code. It stays where it
//! is then, because a wider mask moves nobody.

use std::cell::{RefCell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{cpu_set_t, pid_t};

use super::mask;

/// The other members of the teams that a thread starts, by their numbers.
pub(crate) struct TeamAffinity {
    members: Box<[Member]>,
}

/// Nobody, or a thread of this process.
struct Member {
    thread: AtomicI32,
    /// Who was bound as this member, and gets [`own`](Member::own) back.
    displaced: AtomicI32,
    own: OwnMask,
}

const NOBODY: pid_t = 0;

/// A mask that one thread writes before another reads it.
#[derive(Default)]
struct OwnMask(UnsafeCell<Option<cpu_set_t>>);

// SAFETY: it is written by who starts the team while nobody is `displaced`, and read by who has taken
// the one that is.
unsafe impl Sync for OwnMask {}

/// What a thread keeps of this: who follows it, and whom it follows.
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
    /// The kernel gives the number to another thread some day.
    fn drop(&mut self) {
        let slot = &self.affinity.members[self.number as usize].thread;
        let _ = slot.compare_exchange(self.thread, NOBODY, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl TeamAffinities {
    /// The crew of the calling thread, for teams of up to `contexts` threads.
    pub(super) fn own(&self, contexts: u32) -> Arc<TeamAffinity> {
        let mut own = self.own.borrow_mut();
        Arc::clone(own.get_or_insert_with(|| Arc::new(TeamAffinity::new(contexts))))
    }

    /// The calling thread takes part as member `number` of `affinity`'s team, and where it may run is
    /// its own again.
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

    /// In the child of a fork: all others are the parent's threads, and so is who this one was.
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

    /// Binds the members of a team of `size` that the calling thread is about to start: each to the
    /// next of `cpus` after the one where this thread is.
    pub(super) fn spread(&self, size: u32, cpus: &[u32]) {
        // SAFETY: it only answers a number.
        let here = unsafe { libc::sched_getcpu() };
        let Some(here) = cpus.iter().position(|&cpu| i64::from(cpu) == i64::from(here)) else {
            return;
        };
        for (number, member) in self.members.iter().enumerate().take(size as usize).skip(1) {
            member.go(cpus[(here + number) % cpus.len()]);
        }
    }

    /// The team has ended: who was moved and took no part in it gets its mask back as well.
    pub(super) fn end(&self) {
        for member in self.members.iter().skip(1) {
            member.take_back();
        }
    }
}

impl Member {
    /// Binds it to `cpu`, if it may run there among others.
    fn go(&self, cpu: u32) {
        let thread = self.thread.load(Ordering::Relaxed);
        if thread == NOBODY {
            return;
        }
        // One that has ended is no thread any more, and answers so.
        let Some(own) = mask::of(thread) else { return };
        // SAFETY: a set.
        if mask::has(&own, cpu) && unsafe { libc::CPU_COUNT(&own) } > 1 {
            // SAFETY: nobody reads it before somebody is `displaced`.
            unsafe { *self.own.0.get() = Some(own) };
            // ATOMICS: whoever takes it finds the mask. It is told before the thread is bound,
            // because what is given back without need is only its own.
            self.displaced.store(thread, Ordering::Release);
            mask::set(thread, &mask::with([cpu]));
        }
    }

    /// Who was moved gets its own mask back.
    fn take_back(&self) {
        if self.displaced.load(Ordering::Relaxed) == NOBODY {
            return;
        }
        // ATOMICS: as above.
        let thread = self.displaced.swap(NOBODY, Ordering::Acquire);
        // SAFETY: written before that, and not again until the next team.
        let own = unsafe { *self.own.0.get() };
        // To the kernel 0 is who asks.
        let (Some(own), 1..) = (own, thread) else { return };
        // A mask that somebody set stays what it is when the process is given more processors
        // later; all of them is what a thread has that nobody ever bound.
        mask::set(thread, &mask::with(0..libc::CPU_SETSIZE as u32));
        // SAFETY: two sets.
        if !mask::of(thread).is_some_and(|now| unsafe { libc::CPU_EQUAL(&now, &own) }) {
            mask::set(thread, &own);
        }
    }
}

fn me() -> pid_t {
    // SAFETY: it only answers a number.
    unsafe { libc::gettid() }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    use super::*;

    /// A member that takes part whenever it is told to, and says where it may run then.
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
        let set = mask::of(thread).expect("a thread of this process");
        (0..libc::CPU_SETSIZE as u32).filter(|&cpu| mask::has(&set, cpu)).collect()
    }

    fn part(member: &(Sender<()>, Receiver<Vec<u32>>, pid_t)) -> Vec<u32> {
        member.0.send(()).unwrap();
        member.1.recv().unwrap()
    }

    #[test]
    fn members_wait_apart_and_run_where_they_may() {
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
        assert_eq!(cpus(two.2), all, "no member of a team of two");
        assert_eq!(part(&one), all, "before any of the program's code");
        assert_eq!(cpus(one.2), all);

        affinity.spread(3, &all);
        assert_eq!(part(&two), all);
        affinity.end();
        assert_eq!(cpus(one.2), all, "although it took no part");
    }

    #[test]
    fn who_was_moved_gets_its_mask_back_where_another_is_the_member() {
        let all = cpus(me());
        let affinity = Arc::new(TeamAffinity::new(2));
        let (one, other) = (member(&affinity, 1), member(&affinity, 1));
        part(&one);
        affinity.spread(2, &all);
        assert_eq!(part(&other), all);
        assert_eq!(cpus(one.2), all);
        affinity.spread(2, &all);
        assert_eq!(cpus(one.2), all, "it is the other one now");
        assert_eq!(part(&other), all);
    }

    #[test]
    fn who_is_bound_already_stays_and_who_has_ended_is_left_out() {
        let all = cpus(me());
        let affinity = Arc::new(TeamAffinity::new(2));
        let one = member(&affinity, 1);
        part(&one);
        mask::set(one.2, &mask::with([all[0]]));
        affinity.spread(2, &all);
        assert_eq!(part(&one), all[..1]);

        assert_ne!(affinity.members[1].thread.load(Ordering::Relaxed), NOBODY);
        let (tell, said, _) = one;
        drop(tell);
        // The channel closes when the thread drops what it has.
        assert!(said.recv().is_err());
        while affinity.members[1].thread.load(Ordering::Relaxed) != NOBODY {
            thread::yield_now();
        }
        affinity.spread(2, &all);
        assert_eq!(affinity.members[1].displaced.load(Ordering::Relaxed), NOBODY);
    }
}
