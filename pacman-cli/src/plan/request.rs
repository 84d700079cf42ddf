//! Lists of event names, as they were asked for and as the allocator wants them.

use pacman_events::Refusal;
use pacman_events::allocate::{Demand, Pmu};
use pacman_events::encode::Rings;

use crate::events::Loaded;

/// What was asked for, thread by thread.
pub(super) struct Request {
    /// Names as asked, one for each demand: an expression has several demands.
    pub(super) threads: Vec<Vec<String>>,
    pub(super) demands: Vec<Vec<Demand>>,
}

/// A name that is no event here.
pub(super) struct Failure {
    pub(super) asked: String,
    pub(super) refusal: Refusal,
}

/// Counts in user mode unless a name says otherwise, as an unprivileged thread may.
const USER: Rings = Rings { user: true, kernel: false };

impl Request {
    /// Resolves every name of every list.
    pub(super) fn read(lists: &[String], loaded: &Loaded, pmu: &Pmu) -> Result<Self, Failure> {
        let mut request = Request { threads: Vec::new(), demands: Vec::new() };
        for list in lists {
            let (mut names, mut demands) = (Vec::new(), Vec::new());
            for (bundle, asked) in split(list).into_iter().enumerate() {
                let resolved = loaded
                    .resolve(asked)
                    .map_err(|refusal| Failure { asked: asked.to_owned(), refusal })?;
                for term in resolved.terms() {
                    names.push(asked.to_owned());
                    // The terms of one expression must be counted together.
                    let demand = Demand::of(&term.encoding, pmu, USER);
                    demands.push(demand.in_bundle(bundle as u32));
                }
            }
            request.threads.push(names);
            request.demands.push(demands);
        }
        Ok(request)
    }

    /// The name as asked of a thread's event.
    pub(super) fn asked(&self, thread: usize, event: usize) -> &str {
        &self.threads[thread][event]
    }
}

/// Splits a list at its commas, but for those inside `pmu/term=1,term=2/`.
fn split(list: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut start, mut inside) = (0, false);
    for (at, letter) in list.char_indices() {
        match letter {
            '/' => inside = !inside,
            ',' if !inside => {
                names.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    names.push(&list[start..]);
    names.into_iter().map(str::trim).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn commas_inside_a_pmu_event_do_not_split() {
        let list = "CYCLES, cpu/event=0x3c,umask=0/u ,r01c2,";
        assert_eq!(split(list), ["CYCLES", "cpu/event=0x3c,umask=0/u", "r01c2"]);
        assert_eq!(split(" "), Vec::<&str>::new());
    }
}
