//! Slots of Intel's top-down analysis: fixed counter 3 and the fractions in `PERF_METRICS`.
//!
//! The register holds, for each category, its share of the slots since both registers were last 0,
//! in steps of 1/255. Linux adds share times slots to an event's count when it reads the group, and
//! then sets both registers to 0. RDPMC never sets them to 0, so its steps grow with the number of
//! slots. A difference is off by half a step at its begin and half a step at its end. So a read uses
//! RDPMC for the first [`MOST_SLOTS`] slots, and the system call after them. An execution of 85,000
//! slots, five microseconds on a fast core, is then exact to half a percentage point. This is a
//! bound, not an average: where phases alternate, rounding errors do not cancel.
//!
//! The offsets of these events' pages are useless. When the kernel switches threads, it adds the
//! registers' slots to the count and keeps the registers. A sum of both has these slots twice.
//! Instead, the reader adds the registers to the counts of the last system call.

use std::cell::Cell;
use std::sync::Arc;

use pacman_events::encode::TopDown;
use pacman_events::resolve;

use super::group::{Ask, Member};
use super::page::{CounterLocation, CounterLocations, OffCounter, Pages};
use crate::arch::extend_to;
use crate::backend::{Caps, Counters, ReadPath, Reading};
use crate::event::{Event, Hardware, Source, Term};
use crate::platform::CoreTypePmu;
use crate::seam::PerfSys;
use pacman_events::{Error, ErrorKind, Result};

/// Slots after which a read sets the registers to 0; a step is then 257 slots.
const MOST_SLOTS: u64 = 1 << 16;

/// The role of a group's member in top-down analysis.
pub(super) fn part(member: &Member) -> Option<TopDown> {
    member.encoding.as_ref()?.topdown()
}

/// Whether the member is first in its group.
pub(super) fn leads(member: &Member) -> bool {
    part(member) == Some(TopDown::Slots)
}

/// SLOTS, as the leader of fields of `PERF_METRICS` that were asked for without it.
#[derive(Debug)]
pub(super) struct MissingSlots {
    /// The place of the first of these fields.
    pub(super) place: usize,
    pub(super) member: Member,
    /// The core type that counts the fields, on a hybrid.
    pub(super) core_type: Option<Arc<CoreTypePmu>>,
}

/// The leader that the fields of `PERF_METRICS` need; `None` where nothing is missing.
///
/// # Errors
/// `Unsupported` if the rings of fields differ from those of SLOTS or of each other. One register
/// holds all fields.
pub(super) fn missing_slots(events: &[Event]) -> Result<Option<MissingSlots>> {
    let mut slots = None;
    let mut first: Option<(usize, &Event, &Term)> = None;
    for (place, event) in events.iter().enumerate() {
        let Source::Hardware(terms) = event.source() else { continue };
        for term in terms {
            match term.encoding.topdown() {
                Some(TopDown::Slots) => slots = slots.or(Some((event, term))),
                Some(TopDown::Field(_)) => match first {
                    Some((_, other, before)) if rings(before) != rings(term) => {
                        return Err(other_rings(event, other));
                    }
                    Some(_) => {}
                    None => first = Some((place, event, term)),
                },
                None => {}
            }
        }
    }
    match (first, slots) {
        (None, _) => Ok(None),
        (Some((_, event, field)), Some((leader, slots))) => {
            if rings(field) == rings(slots) {
                Ok(None)
            } else {
                Err(other_rings(event, leader))
            }
        }
        (Some((place, event, field)), None) => {
            let member = leader(event, field)?;
            Ok(Some(MissingSlots { place, member, core_type: field.core_type.clone() }))
        }
    }
}

fn rings(term: &Term) -> (bool, bool) {
    (term.hardware.user, term.hardware.kernel)
}

/// SLOTS in the rings of a field, on its PMU.
fn leader(event: &Event, field: &Term) -> Result<Member> {
    let cannot = |why: String| {
        let what = format!("cannot count {}: {why}", event.name());
        Error::new(ErrorKind::Unsupported, what)
    };
    let slots = resolve(field.encoding.cpu, "SLOTS").map_err(|why| cannot(why.to_string()))?;
    let mut encoding = slots
        .encoding()
        .cloned()
        .ok_or_else(|| cannot("this processor has no single counter of slots".into()))?;
    encoding.rings = field.encoding.rings;
    let config = encoding.perf.map_or(0, |perf| perf.config);
    Ok(Member {
        name: "SLOTS".into(),
        ask: Ask::Hardware(Hardware { config, ..field.hardware }),
        encoding: Some(Box::new(encoding)),
    })
}

#[cold]
fn other_rings(event: &Event, other: &Event) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot count {} beside {}: SLOTS and its categories are counted in the same rings; \
             give all of them the same ending, such as :u",
            event.name(),
            other.name()
        ),
    )
}

/// A group led by SLOTS, read by its owner: by RDPMC, and by the system call where steps are too
/// large.
pub(super) struct TopDownCounters<S: PerfSys, C> {
    sys: S,
    pages: Pages,
    width: u8,
    locations: CounterLocations<Vec<Cell<CounterLocation>>>,
    parts: Vec<(usize, TopDown)>,
    by_call: C,
    /// The counts of `parts` without the slots that the registers hold.
    base: Vec<Cell<u64>>,
    /// The last counts. Rounded fractions must not make a count decrease.
    last: Vec<Cell<u64>>,
    /// The slots that the register held at the last read; `None` if the group was off its counters
    /// then, so that the next read has to ask the kernel.
    seen: Cell<Option<u64>>,
}

impl<S: PerfSys, C: Counters> TopDownCounters<S, C> {
    /// A reader of the group's `members` pages, of which `parts` belong to top-down analysis.
    pub(super) fn new(
        (sys, pages, width): (S, Pages, u8),
        members: usize,
        parts: Vec<(usize, TopDown)>,
        by_call: C,
    ) -> TopDownCounters<S, C> {
        let locations = CounterLocations::unknown_of(members);
        let zeros = vec![Cell::new(0); parts.len()];
        let (base, last, seen) = (zeros.clone(), zeros, Cell::new(None));
        TopDownCounters { sys, pages, width, locations, parts, by_call, base, last, seen }
    }

    /// The registers of `parts` and the counts of the other members; `None` if the group is off its
    /// counters.
    fn raw(&self, into: &mut Reading) -> Option<()> {
        let members = self.locations.len();
        loop {
            let counts = &mut into.counts[..members];
            // SAFETY: this thread opened the group (the reader of calls in it is not `Send`), its
            // pages are mapped, and all of them offered user-mode reads.
            let read = unsafe { self.locations.read_any(&self.sys, self.pages, 64, counts) };
            if read {
                break;
            }
            match self.locations.refresh(&self.sys, self.pages) {
                Ok(()) => {}
                Err(OffCounter) => return None,
            }
        }
        let mut parts = self.parts.iter().peekable();
        for (place, count) in into.counts[..members].iter_mut().enumerate() {
            let offset = self.locations.offset(place);
            let raw = count.wrapping_sub(offset);
            *count = match parts.next_if(|(part, _)| *part == place) {
                Some(_) => raw,
                None => extend_to(self.width, raw).wrapping_add(offset),
            };
        }
        Some(())
    }

    /// The slots that the register held, from the raw values: SLOTS leads the group.
    fn slots(&self, raw: &Reading) -> u64 {
        raw.counts[self.parts[0].0]
    }

    /// Asks the kernel, which sets the registers to 0 if the group is on them.
    #[cold]
    fn read_by_call(&self, into: &mut Reading) -> Result<()> {
        self.by_call.read(into)?;
        let mut raw = Reading::EMPTY;
        let seen = self.raw(&mut raw).map(|()| self.slots(&raw));
        self.seen.set(seen);
        for (n, (place, part)) in self.parts.iter().enumerate() {
            let held = seen.map_or(0, |slots| share(*part, slots, raw.counts[*place]));
            self.base[n].set(into.counts[*place].wrapping_sub(held));
            into.counts[*place] = forward(&self.last[n], into.counts[*place]);
        }
        Ok(())
    }
}

impl<S: PerfSys, C: Counters> Counters for TopDownCounters<S, C> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        let Some(seen) = self.seen.get() else { return self.read_by_call(into) };
        if self.raw(into).is_none() {
            return self.read_by_call(into);
        }
        let slots = self.slots(into);
        // Fewer than before: another read of this group has set the registers to 0.
        if slots < seen || slots > MOST_SLOTS {
            return self.read_by_call(into);
        }
        self.seen.set(Some(slots));
        for (n, (place, part)) in self.parts.iter().enumerate() {
            let held = share(*part, slots, into.counts[*place]);
            into.counts[*place] = forward(&self.last[n], self.base[n].get().wrapping_add(held));
        }
        Ok(())
    }

    fn caps(&self) -> Caps {
        Caps { read_path: ReadPath::Rdpmc, width: Some(self.width), ..self.by_call.caps() }
    }

    fn stand_by(&mut self) -> Result<bool> {
        self.by_call.stand_by()
    }

    fn resume(&mut self) -> Result<()> {
        self.by_call.resume()
    }
}

/// The slots of a part, where the registers hold `slots` slots and the raw value `register`.
fn share(part: TopDown, slots: u64, register: u64) -> u64 {
    match part {
        TopDown::Slots => slots,
        TopDown::Field(field) => {
            let fraction = register >> (8 * u32::from(field)) & 0xff;
            (u128::from(slots) * u128::from(fraction) / 255) as u64
        }
    }
}

/// Keeps and returns the later of two counts.
fn forward(last: &Cell<u64>, count: u64) -> u64 {
    if (count.wrapping_sub(last.get()) as i64) > 0 {
        last.set(count);
    }
    last.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pacman_events::CpuModel;

    fn events(cpu: &str, names: &[&str]) -> Vec<Event> {
        let cpu = CpuModel::named(cpu).unwrap();
        names.iter().map(|name| Event::on(cpu, name).unwrap()).collect()
    }

    #[test]
    fn fields_need_slots_in_their_rings_and_bring_them_along() {
        assert!(missing_slots(&events("icx", &["CYCLES", "SLOTS"])).unwrap().is_none());
        let asked = events("icx", &["CYCLES", "TOPDOWN_RETIRING:k", "TOPDOWN_BACKEND_BOUND:k"]);
        let slots = missing_slots(&asked).unwrap().unwrap();
        let Ask::Hardware(hardware) = slots.member.ask else { panic!("hardware") };
        assert_eq!((slots.place, hardware.config, hardware.pmu), (1, 0x400, 4));
        assert_eq!((hardware.user, hardware.kernel), (false, true));
        for mixed in
            [["SLOTS", "TOPDOWN_RETIRING:k"], ["TOPDOWN_RETIRING", "TOPDOWN_BACKEND_BOUND:uk"]]
        {
            let error = missing_slots(&events("spr", &mixed)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
    }

    #[test]
    fn a_share_is_255ths_of_the_slots() {
        let register = 0x0102_0304_4080_c0ff;
        assert_eq!(share(TopDown::Slots, 1_000, 1_000), 1_000);
        assert_eq!(share(TopDown::Field(0), 510, register), 510);
        assert_eq!(share(TopDown::Field(1), 510, register), 384);
        assert_eq!(share(TopDown::Field(7), 510, register), 2);
        assert_eq!(share(TopDown::Field(0), u64::MAX, register), u64::MAX);
    }

    #[test]
    fn a_count_never_goes_back() {
        let last = Cell::new(u64::MAX - 1);
        assert_eq!(forward(&last, 5), 5, "counts wrap");
        assert_eq!(forward(&last, 3), 5);
        assert_eq!(forward(&last, 6), 6);
    }
}
