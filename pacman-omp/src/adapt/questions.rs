//! The questions for numbers that are proved to divide static loops only.
//!
//! GCC's static loops ask for the size of the team and for the thread's number. The first time that code
//! asks from a place, [`divides_a_loop`] has the machine code of the region around that place
//! [proved](crate::code). Later answers come from a table of return addresses.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::guards::is_llvms;
use crate::code::{Calls, called_function, prove, prove_function};
use crate::isolation::isolated;
use crate::module::{with_code, with_modules};
use crate::once::MAKING;
use crate::region::{self, Region};

/// The return addresses of questions, each with [`PROVED`] or without. A place that is 0 is free.
static PLACES: Places<4096> = Places([const { AtomicU64::new(0) }; 4096]);

/// The bit of a place whose question is proved. Code has addresses of 47 bits.
const PROVED: u64 = 1 << 63;

/// The most bytes between the start of a region's body and a question in it.
const REACH: u64 = 1 << 16;

/// The functions that regions call.
struct Called {
    calls: Calls,
    /// Functions that are not proved. A function may ask several questions.
    refused: Vec<u64>,
}

/// Only locked inside the lock of modules, so that a fork never finds it locked.
static CALLED: Mutex<Called> = Mutex::new(Called { calls: Calls::new(), refused: Vec::new() });

/// Whether the question that returns to `caller` is proved to divide static loops only.
#[inline]
pub(crate) fn divides_a_loop(caller: u64) -> bool {
    PLACES.find(caller).unwrap_or_else(|| examine(caller))
}

/// Proves the region that has the question, and keeps the answer.
#[cold]
fn examine(caller: u64) -> bool {
    isolated(|| {
        // The region that begins last before the question. If the question is in another function,
        // the region's proof does not have it.
        let is_near = |region: &&&Region| {
            let body = region.body();
            let is_before = region.is_loaded() && body < caller && caller - body < REACH;
            is_before && !is_llvms(region.entry)
        };
        let all = region::all();
        if let Some(region) = all.iter().filter(is_near).max_by_key(|region| region.body()) {
            let body = region.body();
            let _one = MAKING.lock();
            region.adapted.guards.examine(body, body.wrapping_sub(region.offset), || {
                match with_code(body, |code| prove(code, body))? {
                    Ok(proof) => {
                        region.adapted.guards.set_only_shares(proof.only_shares);
                        let questions = proof.questions.into_iter();
                        questions.for_each(|question| PLACES.keep(question, true));
                        None
                    }
                    Err(unproved) => Some(unproved),
                }
            });
        }
        PLACES.find(caller).unwrap_or_else(|| {
            let is_it = |region: &&&Region| region.is_loaded() && !is_llvms(region.entry);
            let bodies = all.iter().filter(is_it);
            let bodies: Vec<u64> = bodies.map(|region| region.body()).collect();
            keep_called(caller, &bodies);
            PLACES.keep(caller, false);
            PLACES.find(caller).unwrap_or(false)
        })
    })
}

/// Proves the function that has the question, if one of the bodies calls it, and keeps its questions.
fn keep_called(caller: u64, bodies: &[u64]) {
    let proof = with_code(caller, |code| {
        let here: Vec<u64> = bodies.iter().copied().filter(|body| code.has(*body)).collect();
        let mut called = CALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let Called { calls, refused } = &mut *called;
        let function = called_function(code, calls, &here, caller)?;
        if refused.contains(&function) {
            return None;
        }
        let proof = prove_function(code, function).ok();
        if proof.is_none() {
            refused.push(function);
        }
        proof
    });
    let questions = proof.flatten().into_iter().flat_map(|proof| proof.questions);
    questions.for_each(|question| PLACES.keep(question, true));
}

/// Forgets the answers for code at `addresses`, and all functions that regions call.
pub(crate) fn forget_questions(addresses: &Range<u64>) {
    PLACES.forget(addresses);
    // Locked as in `keep_called`.
    with_modules(|| {
        let mut called = CALLED.lock().unwrap_or_else(PoisonError::into_inner);
        *called = Called { calls: Calls::new(), refused: Vec::new() };
    });
}

/// A table of `N` places, a power of two.
struct Places<const N: usize>([AtomicU64; N]);

/// The places to try for one address.
const TRIES: usize = 16;

impl<const N: usize> Places<N> {
    /// Where an address may be.
    #[inline]
    fn of(&self, caller: u64) -> impl Iterator<Item = &AtomicU64> {
        // Fibonacci hashing spreads the calls of one function, which are close to each other.
        let first = (caller.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        (first..first + TRIES).map(|place| &self.0[place % N])
    }

    /// Whether the question of an address is proved, if that is known.
    #[inline]
    fn find(&self, caller: u64) -> Option<bool> {
        // ATOMICS: an entry is one word, and does not depend on other memory.
        let mut known = self.of(caller).map(|place| place.load(Ordering::Relaxed));
        known.find(|known| known & !PROVED == caller).map(|known| known & PROVED != 0)
    }

    /// Frees the places of code at `addresses`.
    fn forget(&self, addresses: &Range<u64>) {
        for place in &self.0 {
            let known = place.load(Ordering::Relaxed);
            if addresses.contains(&(known & !PROVED)) {
                // ATOMICS: no thread asks from code that is gone.
                place.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Keeps an answer, if a place is free. The first answer stays.
    fn keep(&self, caller: u64, is_proved: bool) {
        let entry = if is_proved { caller | PROVED } else { caller };
        for place in self.of(caller) {
            let before = place.compare_exchange(0, entry, Ordering::Relaxed, Ordering::Relaxed);
            if before.is_ok() || before.is_err_and(|known| known & !PROVED == caller) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_known_by_their_address_and_stay() {
        let places = Places([const { AtomicU64::new(0) }; 64]);
        assert_eq!(places.find(0x5000), None);
        for caller in (0x5000..0x5000 + 32 * 5).step_by(5) {
            places.keep(caller, caller % 2 == 0);
        }
        for caller in (0x5000..0x5000 + 32 * 5).step_by(5) {
            assert_eq!(places.find(caller), Some(caller % 2 == 0), "{caller:x}");
            assert_eq!(places.find(caller + 1), None);
        }
        places.keep(0x5000, false);
        assert_eq!(places.find(0x5000), Some(true), "the first answer");
    }

    #[test]
    fn a_full_table_proves_nothing_more() {
        let places = Places([const { AtomicU64::new(0) }; 16]);
        (1..=20).for_each(|caller| places.keep(caller, true));
        let known = (1..=20).filter(|&caller| places.find(caller) == Some(true));
        assert_eq!(known.count(), 16);
    }

    #[test]
    fn code_outside_of_regions_is_not_proved() {
        let place = divides_a_loop as fn(u64) -> bool as usize as u64;
        assert!(!divides_a_loop(place));
        assert_eq!(PLACES.find(place), Some(false), "kept");
    }
}
