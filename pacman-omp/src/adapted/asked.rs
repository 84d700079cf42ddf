//! Teams whose size the program asks for. They have that size.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::function::Function;
use crate::process::set_once;

/// How the program asks for the size of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Asked {
    /// By a clause, or by the runtime's call for one.
    Clause = 1,
    /// By `omp_set_num_threads`.
    Set,
    Nested,
    League,
}

impl Asked {
    const ALL: [Asked; 4] = [Asked::Clause, Asked::Set, Asked::Nested, Asked::League];

    /// How the program asks for the size of the team of a call of `entry` at nesting `depth`, if it does. `by_clause` says
    /// whether the call has a size of its own, `has_set` whether the program has set one for the calling thread.
    pub(crate) fn by(entry: Function, depth: u32, by_clause: bool, has_set: bool) -> Option<Asked> {
        if depth > 0 {
            Some(Asked::Nested)
        } else if entry == Function::GOMP_teams_reg || HAS_LEAGUES.load(Ordering::Relaxed) {
            Some(Asked::League)
        } else if by_clause {
            Some(Asked::Clause)
        } else {
            has_set.then_some(Asked::Set)
        }
    }

    /// The reason in a report.
    pub(crate) fn why(self) -> &'static str {
        match self {
            Asked::Clause => "a clause of the program says how many threads it gets",
            Asked::Set => "the program set the number of threads before it",
            Asked::Nested => "it is inside another region",
            Asked::League => "it is a league of teams, or the program runs such",
        }
    }
}

/// The program's latest request for a region.
#[derive(Debug, Default)]
pub(crate) struct Request(AtomicU8);

impl Request {
    pub(crate) fn note(&self, asked: Option<Asked>) {
        self.0.store(asked.map_or(0, |asked| asked as u8), Ordering::Relaxed);
    }

    pub(crate) fn latest(&self) -> Option<Asked> {
        let latest = self.0.load(Ordering::Relaxed);
        Asked::ALL.into_iter().find(|asked| *asked as u8 == latest)
    }
}

/// The program has run a league of teams. LLVM's leagues start the regions of their teams on threads that nothing else
/// marks.
static HAS_LEAGUES: AtomicBool = AtomicBool::new(false);

/// The program runs a league of teams.
pub(crate) fn runs_leagues() {
    set_once(&HAS_LEAGUES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::Worker;

    #[test]
    fn the_latest_request_is_kept() {
        let request = Request::default();
        assert_eq!(request.latest(), None);
        for asked in Asked::ALL {
            request.note(Some(asked));
            assert_eq!(request.latest(), Some(asked));
        }
        request.note(None);
        assert_eq!(request.latest(), None);
    }

    #[test]
    fn a_clause_or_a_setter_asks_and_a_plain_region_does_not() {
        let (entry, league) = (Function::GOMP_parallel, Function::GOMP_teams_reg);
        assert_eq!(Asked::by(entry, 0, false, false), None);
        assert_eq!(Asked::by(entry, 0, true, true), Some(Asked::Clause));
        assert_eq!(Asked::by(entry, 0, false, true), Some(Asked::Set));
        assert_eq!(Asked::by(league, 0, false, false), Some(Asked::League));
        assert_eq!(Asked::by(league, 1, true, true), Some(Asked::Nested));
        let worker = Worker::here();
        worker.pushes_size();
        assert!(!worker.is_plain() && worker.take_pushed() && worker.is_plain(), "one region");
        worker.sets_size();
        assert!(!worker.take_pushed() && !worker.is_plain(), "all regions from now on");
    }
}
