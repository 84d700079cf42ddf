//! Lists of event names, as they were asked for and as the allocator wants them.

use pacman_events::ResolveError;
use pacman_events::allocate::{Conflict, EventConstraints, Pmu};
use pacman_events::encode::Rings;

use crate::events::Loaded;

/// The events asked for, thread by thread.
pub(super) struct Request {
    /// For each demand, the name that asked for it: an expression has several demands.
    pub(super) threads: Vec<Vec<Asked>>,
    pub(super) demands: Vec<Vec<EventConstraints>>,
}

/// A name as it was asked for.
pub(super) struct Asked {
    pub(super) name: String,
    /// Its position in its thread's list, which is the bundle of its demands.
    pub(super) bundle: u32,
}

/// A name that is not an event here.
pub(super) struct Failure {
    pub(super) asked: String,
    pub(super) refusal: ResolveError,
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
                    let bundle = bundle as u32;
                    names.push(Asked { name: asked.to_owned(), bundle });
                    // The terms of one expression are best counted together.
                    demands.push(EventConstraints::of(&term.encoding, pmu, USER).in_bundle(bundle));
                }
            }
            request.threads.push(names);
            request.demands.push(demands);
        }
        Ok(request)
    }

    /// The name that asked for a thread's event.
    pub(super) fn asked(&self, thread: usize, event: usize) -> &str {
        &self.threads[thread][event].name
    }

    /// The names of a conflict. An expression is named once, also if several of its terms take
    /// part.
    pub(super) fn names<'r>(&'r self, conflict: &Conflict) -> Vec<&'r str> {
        let mut names: Vec<(u8, &Asked)> = Vec::new();
        for event in conflict.events() {
            let asked = &self.threads[usize::from(event.thread())][event.event()];
            let known = |(thread, other): &(u8, &Asked)| {
                *thread == event.thread() && other.bundle == asked.bundle
            };
            if !names.iter().any(known) {
                names.push((event.thread(), asked));
            }
        }
        names.into_iter().map(|(_, asked)| asked.name.as_str()).collect()
    }

    /// The name of a thread's bundle.
    pub(super) fn bundle(&self, thread: u8, bundle: u32) -> &str {
        let mut all = self.threads[usize::from(thread)].iter();
        all.find(|asked| asked.bundle == bundle).map_or("", |asked| &asked.name)
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
