//! The hardware's form of a name.

use pacman_events::Preset;

use pacman_core::event::machine;
use pacman_core::event::{Event, Hardware, Source, Term};
use serde::Serialize;

/// The native events behind a hardware event, and what their tables say against them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub(crate) struct Native {
    /// Native event, or several as `A + 2*B - C`, each with what Linux is asked for.
    pub(crate) expression: String,
    /// Numbers of the vendor's errata about them; empty where the tables know none.
    pub(crate) errata: Vec<&'static str>,
    /// Difference from the preset's meaning on this processor; empty where there is none.
    pub(crate) caveat: &'static str,
}

impl Native {
    /// The hardware's form of `event`; `None` for the kernel's own events.
    pub(super) fn of(event: &Event) -> Option<Native> {
        let Source::Hardware(terms) = event.source() else { return None };
        let mut expression = String::new();
        for (number, term) in terms.iter().enumerate() {
            expression.push_str(&joint(number, term.coefficient));
            expression.push_str(&native(term));
        }
        let mut errata: Vec<&str> = terms
            .iter()
            .flat_map(|term| term.encoding.errata.split(','))
            .map(str::trim)
            .filter(|number| !number.is_empty())
            .collect();
        errata.dedup();
        let name = event.name().split(':').next().unwrap_or_default();
        let preset = Preset::named(name);
        let caveat = preset.map_or("", |preset| preset.answer(machine::model()).caveat());
        Some(Native { expression, errata, caveat })
    }
}

/// The text before a term.
fn joint(number: usize, coefficient: i64) -> String {
    let sign = match (number, coefficient < 0) {
        (0, false) => "",
        (0, true) => "-",
        (_, false) => " + ",
        (_, true) => " - ",
    };
    match coefficient.unsigned_abs() {
        1 => sign.to_string(),
        factor => format!("{sign}{factor}*"),
    }
}

fn native(term: &Term) -> String {
    let Hardware { pmu, config, config1, .. } = term.hardware;
    let code = match pmu {
        // PERF_TYPE_RAW: perf's own spelling.
        4 => format!("r{config:x}"),
        _ => format!("type {pmu}, config {config:#x}"),
    };
    let more = if config1 == 0 { String::new() } else { format!(", config1 {config1:#x}") };
    let on = term.core_type.as_ref().map_or_else(String::new, |pmu| format!(" on {}", pmu.name()));
    format!("{}{on} ({code}{more})", term.encoding.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pacman_events::CpuModel;

    fn expression(cpu: &str, name: &str) -> String {
        let event = Event::on(CpuModel::named(cpu).unwrap(), name).unwrap();
        Native::of(&event).unwrap().expression
    }

    #[test]
    fn presets_are_traced_to_their_codes() {
        assert_eq!(expression("snb", "STALL_CYCLES"), "UOPS_ISSUED.STALL_CYCLES (r180010e)");
        assert_eq!(expression("zen2", "BRANCHES"), "RETIRED_BRANCH_INSTRUCTIONS (rc2)");
        let sum = expression("p4", "STALL_CYCLES");
        assert!(sum.contains(" (r") && sum.contains(") - "), "{sum}");
    }

    #[test]
    fn errata_are_named_once_each() {
        let event = Event::on(CpuModel::named("hsw").unwrap(), "LOADS").unwrap();
        assert_eq!(Native::of(&event).unwrap().errata, ["HSD29", "HSM30"]);
    }

    #[test]
    fn software_has_no_native_event() {
        assert_eq!(Native::of(&"task-clock".parse().unwrap()), None);
    }
}
