//! From a name to an event of one processor model.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pacman_events::{
    CpuModel, Encoding, Preset, ResolveError, ResolveErrorKind, Resolved, Resolver, SysfsPmu,
};
use perf_event_open_sys::bindings as abi;

use super::installed;
use super::resolved::{Event, Hardware, Source, Term};
use super::software;
use crate::platform::{self, CoreTypePmu};
use pacman_events::{Error, ErrorKind, Result};

/// The kernel's cache events under the names that programs know them by.
const GENERIC: [(&str, &str); 2] =
    [("CACHE_MISSES", "cache-misses"), ("CACHE_REFERENCES", "cache-references")];

impl Event {
    /// The event of this name on a processor model, which need not be this one's.
    ///
    /// # Errors
    /// `UnknownEvent` with the nearest names; `OtherModel` for an event of other processors;
    /// `InvalidInput` for a name that breaks the grammar or lacks its unit mask; `Unsupported` for an event that the
    /// model cannot count, or that needs something missing.
    pub fn on(cpu: CpuModel, text: &str) -> Result<Event> {
        let text = text.trim();
        let pmus = if text.contains('/') { platform::current().pmus() } else { Vec::new() };
        resolve(cpu, text, &pmus, None).map_err(|refusal| refusal.of(&format!("{text:?}")))
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

    /// As [`parse_list`](Self::parse_list), for a processor that need not be this one's.
    ///
    /// # Errors
    /// As for [`parse_list`](Self::parse_list).
    pub fn parse_list_on(cpu: CpuModel, list: &str) -> Result<Vec<Event>> {
        let list = Event::expand_groups(cpu, list)?;
        let events = Event::names_in(&list)
            .map(|name| Event::on(cpu, name))
            .collect::<Result<Vec<Event>>>()?;
        if events.is_empty() {
            return Err(empty());
        }
        Ok(events)
    }
}

/// Why a name is no event of a model.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) kind: ErrorKind,
    pub(super) why: String,
}

impl Refusal {
    /// The error of a request for `what`.
    #[cold]
    pub(super) fn of(self, what: &str) -> Error {
        Error::new(self.kind, format!("cannot count {what}: {}", self.why))
    }
}

/// The event of this name on a model, counted by the PMU of `core_type` where the processor has
/// several.
pub(super) fn resolve(
    cpu: CpuModel,
    text: &str,
    pmus: &[SysfsPmu],
    core_type: Option<&Arc<CoreTypePmu>>,
) -> Result<Event, Refusal> {
    let (name, modifiers) = text.split_once(':').unwrap_or((text, ""));
    if let Some(row) = software::find(name) {
        let (software, modes) = row.in_modes(modifiers).ok_or_else(|| Refusal {
            kind: ErrorKind::InvalidInput,
            why: format!("the kernel's {} takes only u and k; leave out :{modifiers}", row.name),
        })?;
        let name = [row.name, modes].concat();
        return Ok(Event { name, unit: row.unit, source: Source::Software(software) });
    }
    let generic = GENERIC.iter().find(|(generic, _)| generic.eq_ignore_ascii_case(name));
    let asked = match generic {
        Some((_, kernels)) => [*kernels, &text[name.len()..]].concat(),
        None => text.to_string(),
    };
    let mut resolver = Resolver::new(cpu).with_pmus(pmus);
    if let Some(installed) = installed::table(cpu) {
        resolver = resolver.with_table(&installed.content.table);
    }
    let resolved = resolver.resolve(&asked).map_err(|refusal| refused(&refusal))?;
    let terms = terms(&resolved, core_type)?;
    let shown = generic.map(|g| g.0).or(resolved.preset().map(Preset::name)).or(resolved.alias());
    let name = match shown {
        Some(shown) => [shown, suffix(&terms)].concat(),
        None => resolved.name(),
    };
    let unit = shown.map_or("events", unit);
    Ok(Event { name, unit, source: Source::Hardware(terms) })
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
        ErrorKind::Empty,
        "cannot count an empty list of events; name at least one, such as task-clock",
    )
}

#[cold]
fn refused(refusal: &ResolveError) -> Refusal {
    let kind = match refusal.kind() {
        ResolveErrorKind::Grammar => ErrorKind::InvalidInput,
        // The names with a unit mask stand in the error: the name is incomplete, on every machine.
        ResolveErrorKind::Needs if !refusal.nearest().is_empty() => ErrorKind::InvalidInput,
        ResolveErrorKind::OtherModel => ErrorKind::OtherModel,
        ResolveErrorKind::Unknown => ErrorKind::UnknownEvent,
        _ => ErrorKind::Unsupported,
    };
    Refusal { kind, why: refusal.to_string() }
}

fn terms(resolved: &Resolved, core_type: Option<&Arc<CoreTypePmu>>) -> Result<Vec<Term>, Refusal> {
    let term = |term: &pacman_events::Term| {
        Ok(Term {
            coefficient: term.coefficient,
            hardware: hardware(&term.encoding, core_type.map(|pmu| &**pmu))?,
            encoding: term.encoding.clone(),
            core_type: core_type.cloned(),
        })
    };
    resolved.terms().map(term).collect()
}

fn hardware(encoding: &Encoding, core_type: Option<&CoreTypePmu>) -> Result<Hardware, Refusal> {
    let cannot = |why: String| Refusal { kind: ErrorKind::Unsupported, why };
    let Some(perf) = encoding.perf else {
        return Err(cannot(format!(
            "Linux has no way to ask for {} on {}; program its registers instead, as \
             `pacman-pmu encode` shows them",
            encoding.name,
            encoding.cpu.title()
        )));
    };
    let (pmu, config) = match (core_type, perf.pmu) {
        // The kernel's own events, of which each PMU has some: the upper half says whose.
        (Some(core_type), _) if GENERIC_KINDS.contains(&perf.kind) => {
            (perf.kind, perf.config | u64::from(core_type.number()) << PMU_TYPE_SHIFT)
        }
        (Some(core_type), _) => (core_type.number(), perf.config),
        (None, None) => (perf.kind, perf.config),
        (None, Some(directory)) => {
            let file = Path::new(platform::DEVICES).join(directory).join("type");
            let number = fs::read_to_string(&file).ok().and_then(|n| n.trim().parse().ok());
            let number = number.ok_or_else(|| {
                cannot(format!("this kernel shows no PMU {directory}, which counts it"))
            })?;
            (number, perf.config)
        }
    };
    let rings = encoding.rings;
    Ok(Hardware {
        pmu,
        config,
        config1: perf.config1,
        config2: perf.config2,
        user: rings.user || !rings.kernel,
        kernel: rings.kernel,
    })
}

/// `PERF_TYPE_HARDWARE` and `PERF_TYPE_HW_CACHE`: events that the kernel defines for all PMUs.
const GENERIC_KINDS: [u32; 2] = [abi::PERF_TYPE_HARDWARE, abi::PERF_TYPE_HW_CACHE];
/// The bit of such an event's `config` where the number of the PMU begins (`PERF_PMU_TYPE_SHIFT`).
const PMU_TYPE_SHIFT: u32 = 32;

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
            ("page-faults:u", "page-faults:u", "faults"),
            ("faults:K", "page-faults:k", "faults"),
            ("page-faults:u:k", "page-faults", "faults"),
            ("cs:u", "context-switches:u", "switches"),
            ("task-clock:u", "task-clock", "ns"),
        ] {
            let event = on("skl", text).unwrap();
            assert_eq!((event.name(), event.unit()), (name, unit));
        }
    }

    #[test]
    fn the_kernels_accounting_stands_in_for_both_modes_only() {
        for (text, user, kernel, otherwise) in [
            ("page-faults", true, true, true),
            ("page-faults:uk", true, true, true),
            ("page-faults:u", true, false, false),
            ("page-faults:k", false, true, false),
            ("alignment-faults:k", false, true, false),
        ] {
            let event = on("skl", text).unwrap();
            let Source::Software(software) = event.source() else { panic!("{text}") };
            let seen = (software.in_user, software.in_kernel, software.otherwise.is_some());
            assert_eq!(seen, (user, kernel, otherwise), "{text}");
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
        let cpu = CpuModel::generic();
        assert_eq!(Event::parse_list_on(cpu, "task-clock,,page-faults").unwrap().len(), 2);
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
                "MEM_TRANS_RETIRED",
                ErrorKind::InvalidInput,
                "needs a unit mask out of LOAD_LATENCY_GT",
            ),
            ("PAPI_CSR_FAL", ErrorKind::Unsupported, "the processor has no store-conditional"),
            (
                "xqzzyx",
                ErrorKind::UnknownEvent,
                "no event xqzzyx on skl; `pacman-pmu list --cpu skl` shows what there is",
            ),
            ("instr_retired:NBOGUSNTAG", ErrorKind::OtherModel, "p4"),
            ("CYCLES:z", ErrorKind::InvalidInput, "CYCLES"),
            (
                "task-clock:e",
                ErrorKind::InvalidInput,
                "cannot count \"task-clock:e\": the kernel's task-clock takes only u and k; leave out :e",
            ),
        ] {
            let error = on("skl", text).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(line), "{error}");
            assert!(error.to_string().starts_with("cannot count"), "{error}");
        }
        assert_eq!(
            Event::parse_list_on(CpuModel::generic(), " , ").unwrap_err().to_string(),
            "cannot count an empty list of events; name at least one, such as task-clock"
        );
    }
}
