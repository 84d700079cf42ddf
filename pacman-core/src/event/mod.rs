//! Events by name, as a program requests them of a session.
//!
//! Names follow the grammar of [`pacman_events`]: a portable preset in capitals, a
//! vendor's name with unit masks, a raw code `rXXXX`, `cpu/event=0x3c/`, or one of
//! the kernel's software events; `NAME[:modifier…]`.

pub mod machine;
mod software;

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use pacman_events::{
    CpuModel, Encoding, Preset, ResolveError, ResolveErrorKind, Resolved, Resolver,
};

use crate::error::{Error, ErrorKind, Result};
use crate::platform;

pub use software::{KernelAccounting, Software};

/// One event, as resolved from its name.
///
/// Hardware events count in user mode unless the name says otherwise (`:k`,
/// `:uk`), so that a name means the same with and without privilege. On an SMT
/// core the count is that of the one hardware context the thread runs on, unless
/// the event's own description says that it counts for the core.
///
/// ```
/// use pacman_core::Event;
/// let event: Event = "Page-Faults".parse()?;
/// assert_eq!((event.name(), event.unit()), ("page-faults", "faults"));
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    name: String,
    unit: &'static str,
    source: Source,
}

/// Where an event's count comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Hardware counters, by way of the kernel: one, or a sum of several.
    Hardware(Vec<Term>),
    /// A counter of the kernel's own.
    Software(Software),
}

/// A hardware counter's part in an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The factor of its count; 1 for an event of one term.
    pub coefficient: i64,
    /// The kernel's names for it.
    pub hardware: Hardware,
    /// The demands on the hardware, which explain a refusal.
    pub encoding: Encoding,
}

/// A hardware counter in the words of `perf_event_open(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// The PMU's number.
    pub pmu: u32,
    /// The selector.
    pub config: u64,
    /// More of the selector.
    pub config1: u64,
    /// More of the selector.
    pub config2: u64,
    /// Counts in user mode.
    pub user: bool,
    /// Counts in the kernel.
    pub kernel: bool,
}

/// The kernel's cache events under the names that programs know them by.
const GENERIC: [(&str, &str); 2] =
    [("CACHE_MISSES", "cache-misses"), ("CACHE_REFERENCES", "cache-references")];

impl Event {
    /// The event of this name on a processor model, which need not be this one's.
    ///
    /// # Errors
    /// `UnknownEvent` with the nearest names; `OtherModel` for an event of other processors;
    /// `InvalidInput` for a name that breaks the grammar; `Unsupported` for an event that the
    /// model cannot count, or that needs something missing.
    pub fn on(cpu: CpuModel, text: &str) -> Result<Event> {
        let text = text.trim();
        let (name, modifiers) = text.split_once(':').unwrap_or((text, ""));
        if let Some(row) = software::find(name) {
            if !modifiers.is_empty() {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    format!(
                        "cannot count {text:?}: the kernel counts {} the same in every mode; \
                         leave out :{modifiers}",
                        row.name
                    ),
                ));
            }
            let source = Source::Software(row.software);
            return Ok(Event { name: row.name.into(), unit: row.unit, source });
        }
        let generic = GENERIC.iter().find(|(generic, _)| generic.eq_ignore_ascii_case(name));
        let asked = match generic {
            Some((_, kernels)) => [*kernels, &text[name.len()..]].concat(),
            None => text.to_string(),
        };
        let pmus = if text.contains('/') { platform::current().pmus() } else { Vec::new() };
        let resolved = Resolver::new(cpu)
            .with_pmus(&pmus)
            .resolve(&asked)
            .map_err(|refusal| refused(text, &refusal))?;
        let terms = terms(text, &resolved)?;
        let shown = generic.map(|g| g.0).or(resolved.preset().map(Preset::name));
        let name = match shown {
            Some(shown) => [shown, suffix(&terms)].concat(),
            None => resolved.name(),
        };
        let unit = shown.map_or("events", unit);
        Ok(Event { name, unit, source: Source::Hardware(terms) })
    }

    /// The canonical name, with the modifiers that change its meaning.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The unit of one count: `instructions`, `cycles`, `ns`, `faults`, …; `events` for a vendor's
    /// own names.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// The counters or the account that its count comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Whether hardware counters count it.
    pub fn is_hardware(&self) -> bool {
        matches!(self.source, Source::Hardware(_))
    }

    /// Every name that means the same on every machine: the portable presets and
    /// the kernel's software events. `pacman-pmu list` knows the vendors' names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let generic = GENERIC.iter().map(|g| g.0);
        Preset::all().map(Preset::name).chain(generic).chain(Event::software_names())
    }

    /// The names of the kernel's software events.
    pub fn software_names() -> impl Iterator<Item = &'static str> {
        software::ROWS.iter().map(|row| row.name)
    }

    /// The names in a list such as `CYCLES,cpu/event=0x3c,umask=0/`; they need not be known.
    pub fn names_in(list: &str) -> impl Iterator<Item = &str> {
        names_of(list).map(str::trim).filter(|name| !name.is_empty())
    }

    /// The events of a list such as `CYCLES,INSTRUCTIONS:uk,page-faults`; commas
    /// between slashes (`cpu/event=0x3c,umask=0/`) belong to the name.
    ///
    /// # Errors
    /// `Empty` for a list without names; otherwise as for a single name.
    pub fn parse_list(list: &str) -> Result<Vec<Event>> {
        Event::parse_list_on(machine::model(), list)
    }

    /// As [`parse_list`](Self::parse_list), for a processor that need not be this one's.
    ///
    /// # Errors
    /// As for [`parse_list`](Self::parse_list).
    pub fn parse_list_on(cpu: CpuModel, list: &str) -> Result<Vec<Event>> {
        let events = Event::names_in(list)
            .map(|name| Event::on(cpu, name))
            .collect::<Result<Vec<Event>>>()?;
        if events.is_empty() {
            return Err(empty());
        }
        Ok(events)
    }
}

impl FromStr for Event {
    type Err = Error;

    /// Resolves a name for the processor of this machine.
    ///
    /// # Errors
    /// As for [`Event::on`].
    fn from_str(text: &str) -> Result<Event> {
        Event::on(machine::model(), text)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The parts of a list between commas, but not those between slashes.
pub(crate) fn names_of(list: &str) -> impl Iterator<Item = &str> {
    let mut between_slashes = false;
    list.split(move |letter| {
        between_slashes ^= letter == '/';
        letter == ',' && !between_slashes
    })
}

/// The refusal of a session without events.
#[cold]
pub(crate) fn empty() -> Error {
    Error::new(
        ErrorKind::NoEvents,
        "cannot count an empty list of events; name at least one, such as task-clock",
    )
}

#[cold]
fn refused(text: &str, refusal: &ResolveError) -> Error {
    let kind = match refusal.kind() {
        ResolveErrorKind::Grammar => ErrorKind::InvalidInput,
        ResolveErrorKind::OtherModel => ErrorKind::OtherModel,
        ResolveErrorKind::Unknown => ErrorKind::UnknownEvent,
        _ => ErrorKind::Unsupported,
    };
    Error::new(kind, format!("cannot count {text:?}: {refusal}"))
}

fn terms(text: &str, resolved: &Resolved) -> Result<Vec<Term>> {
    let term = |term: &pacman_events::Term| {
        Ok(Term {
            coefficient: term.coefficient,
            hardware: hardware(text, &term.encoding)?,
            encoding: term.encoding.clone(),
        })
    };
    resolved.terms().map(term).collect()
}

fn hardware(text: &str, encoding: &Encoding) -> Result<Hardware> {
    let cannot =
        |why: String| Error::new(ErrorKind::Unsupported, format!("cannot count {text:?}: {why}"));
    let Some(perf) = encoding.perf else {
        return Err(cannot(format!(
            "Linux has no way to ask for {} on {}; program its registers instead, as \
             `pacman-pmu encode` shows them",
            encoding.name,
            encoding.cpu.title()
        )));
    };
    let pmu = match perf.pmu {
        None => perf.kind,
        Some(directory) => {
            let file = Path::new(platform::DEVICES).join(directory).join("type");
            let number = fs::read_to_string(&file).ok().and_then(|n| n.trim().parse().ok());
            number.ok_or_else(|| {
                cannot(format!("this kernel shows no PMU {directory}, which counts it"))
            })?
        }
    };
    let rings = encoding.rings;
    Ok(Hardware {
        pmu,
        config: perf.config,
        config1: perf.config1,
        config2: perf.config2,
        user: rings.user || !rings.kernel,
        kernel: rings.kernel,
    })
}

/// The ending of a preset's name that tells the modes apart.
fn suffix(terms: &[Term]) -> &'static str {
    match terms.first().map(|term| (term.hardware.user, term.hardware.kernel)) {
        Some((false, true)) => ":k",
        Some((true, true)) => ":uk",
        _ => "",
    }
}

/// The unit of one count of a preset.
fn unit(preset: &str) -> &'static str {
    match preset {
        "BUS_TRANSACTIONS" => "transactions",
        "FP_OPS" => "operations",
        "INSTRUCTIONS" => "instructions",
        "LOADS" => "loads",
        "STORES" => "stores",
        "ONE_THREAD_ACTIVE" | "REF_XCLK_ANY" => "ticks",
        "SLOTS" => "slots",
        name if name.starts_with("TOPDOWN_") => "slots",
        name if name.starts_with("BRANCH") => "branches",
        name if name.starts_with("UOPS") => "uops",
        name if name.ends_with("_MISSES") => "misses",
        name if name.ends_with("_ACCESSES") || name.ends_with("_REFERENCES") => "accesses",
        // CYCLES, the stalls and the clockticks.
        _ => "cycles",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(cpu: &str, text: &str) -> Result<Event> {
        Event::on(CpuModel::named(cpu).unwrap(), text)
    }

    fn only(event: &Event) -> Hardware {
        match event.source() {
            Source::Hardware(terms) if terms.len() == 1 => terms[0].hardware,
            other => panic!("{other:?} is not one hardware counter"),
        }
    }

    #[test]
    fn names_are_case_insensitive_and_keep_their_canonical_form() {
        for (text, name, unit) in [
            ("cycles:u", "CYCLES", "cycles"),
            ("Instructions", "INSTRUCTIONS", "instructions"),
            ("REF_CYCLES:uk", "REF_CYCLES:uk", "cycles"),
            ("branches:k", "BRANCHES:k", "branches"),
            ("stall_cycles", "STALL_CYCLES", "cycles"),
            ("cache_misses", "CACHE_MISSES", "misses"),
            ("uops_issued.stall_cycles", "UOPS_ISSUED.STALL_CYCLES", "events"),
            ("CS", "context-switches", "switches"),
            ("Task-Clock", "task-clock", "ns"),
        ] {
            let event = on("skl", text).unwrap();
            assert_eq!((event.name(), event.unit()), (name, unit));
        }
    }

    #[test]
    fn presets_become_the_models_own_codes() {
        assert_eq!(only(&on("snb", "STALL_CYCLES").unwrap()).config, 0x0180_010e);
        assert_eq!(only(&on("snb", "r01c3010e").unwrap()).pmu, 4);
        let stalls = on("p4", "STALL_CYCLES").unwrap();
        let Source::Hardware(terms) = stalls.source() else { panic!("hardware") };
        let coefficients: Vec<i64> = terms.iter().map(|term| term.coefficient).collect();
        assert_eq!(coefficients, [1, -1]);
        let generic = only(&Event::on(CpuModel::generic(), "INSTRUCTIONS").unwrap());
        assert_eq!((generic.pmu, generic.config), (0, 1));
    }

    #[test]
    fn a_hardware_event_counts_user_mode_unless_told_otherwise() {
        for (text, user, kernel) in
            [("CYCLES", true, false), ("CYCLES:k", false, true), ("r3c:uk", true, true)]
        {
            let hardware = only(&on("skl", text).unwrap());
            assert_eq!((hardware.user, hardware.kernel), (user, kernel), "{text}");
        }
    }

    #[test]
    fn commas_between_slashes_belong_to_the_name() {
        let list = "task-clock, cpu/event=0x3c,umask=0x1/ ,page-faults";
        let parts: Vec<&str> = names_of(list).collect();
        assert_eq!(parts, ["task-clock", " cpu/event=0x3c,umask=0x1/ ", "page-faults"]);
        assert_eq!(Event::parse_list("task-clock,,page-faults").unwrap().len(), 2);
    }

    #[test]
    fn refusals_read_like_advice() {
        for (text, kind, line) in [
            (
                "INSTRUCTION",
                ErrorKind::UnknownEvent,
                "cannot count \"INSTRUCTION\": no event INSTRUCTION on skl; nearest: INSTRUCTIONS",
            ),
            ("page-fault", ErrorKind::UnknownEvent, "nearest: page-faults"),
            (
                "xqzzyx",
                ErrorKind::UnknownEvent,
                "no event xqzzyx on skl; `pacman-pmu list --cpu skl` shows what there is",
            ),
            ("instr_retired:NBOGUSNTAG", ErrorKind::OtherModel, "p4"),
            ("CYCLES:z", ErrorKind::InvalidInput, "CYCLES"),
            (
                "task-clock:u",
                ErrorKind::InvalidInput,
                "cannot count \"task-clock:u\": the kernel counts task-clock the same in every mode; leave out :u",
            ),
        ] {
            let error = on("skl", text).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(line), "{error}");
            assert!(error.to_string().starts_with("cannot count"), "{error}");
        }
        assert_eq!(
            Event::parse_list(" , ").unwrap_err().to_string(),
            "cannot count an empty list of events; name at least one, such as task-clock"
        );
    }
}
