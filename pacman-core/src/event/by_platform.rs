//! From a name to an event of a machine, whose processor may have several core types.

use std::str::FromStr;
use std::sync::Arc;

use pacman_events::CpuModel;

use super::resolve::{Refusal, empty, resolve};
use super::resolved::{Event, Source, Term, part_name};
use super::software;
use crate::platform::{self, CoreTypePmu, PlatformRef};
use pacman_events::{Error, ErrorKind, Result};

impl Event {
    /// The event of this name on the processor of `platform`.
    ///
    /// On a hybrid processor the name is resolved for each core type, and the event counts on all of
    /// them. `cpu_core/NAME/` counts on the cores of that type alone.
    ///
    /// # Errors
    /// As for [`Event::on`]; also for an event that one of the core types cannot count.
    pub fn for_platform(platform: &PlatformRef, text: &str) -> Result<Event> {
        Names::of(platform).event(text)
    }

    /// The event of this name on a hybrid processor with these core types, wherever its thread runs.
    ///
    /// # Errors
    /// As for [`for_platform`](Self::for_platform).
    pub fn on_core_types(core_types: &[CoreTypePmu], text: &str) -> Result<Event> {
        let core_types: Vec<_> = core_types.iter().cloned().map(Arc::new).collect();
        on_every_core_type(&core_types, text.trim())
    }

    /// As [`parse_list`](Self::parse_list), for the processor of `platform`.
    ///
    /// # Errors
    /// As for [`parse_list`](Self::parse_list).
    pub fn parse_list_for(platform: &PlatformRef, list: &str) -> Result<Vec<Event>> {
        let names = Names::of(platform);
        let list = Event::expand_groups(platform.cpu_model(), list)?;
        let events = Event::names_in(&list).map(|name| names.event(name));
        let events = events.collect::<Result<Vec<Event>>>()?;
        if events.is_empty() { Err(empty()) } else { Ok(events) }
    }

    /// The events of a list such as `CYCLES,INSTRUCTIONS:uk,page-faults`; commas
    /// between slashes (`cpu/event=0x3c,umask=0/`) belong to the name. A group's name, such as
    /// `TOPDOWN`, stands for [its events](Self::expand_groups).
    ///
    /// # Errors
    /// `Empty` for a list without names; `Unsupported` for a group that this processor cannot
    /// count; otherwise as for [a single name](Self::for_platform).
    pub fn parse_list(list: &str) -> Result<Vec<Event>> {
        Event::parse_list_for(platform::current(), list)
    }
}

impl FromStr for Event {
    type Err = Error;

    /// Resolves a name for the processor of this machine.
    ///
    /// # Errors
    /// As for [`Event::for_platform`].
    fn from_str(text: &str) -> Result<Event> {
        Event::for_platform(platform::current(), text)
    }
}

/// The names of a machine's events.
struct Names<'a> {
    platform: &'a PlatformRef,
    /// Empty where all cores are alike.
    core_types: Vec<Arc<CoreTypePmu>>,
}

impl Names<'_> {
    fn of(platform: &PlatformRef) -> Names<'_> {
        let core_types = platform.core_types().into_iter().map(Arc::new).collect();
        Names { platform, core_types }
    }

    fn event(&self, text: &str) -> Result<Event> {
        let text = text.trim();
        let asked = || format!("{text:?}");
        if self.core_types.is_empty() {
            return self.anywhere(text).map_err(|refusal| refusal.of(&asked()));
        }
        match in_perf_style(text) {
            None => on_every_core_type(&self.core_types, text),
            // Hybrids have no PMU of this name; programs that were written for others ask for it.
            Some(("cpu", ..)) => on_every_core_type(&self.core_types, text),
            Some((pmu, inner, modifiers)) => {
                match self.core_types.iter().find(|known| known.name() == pmu) {
                    Some(core_type) => self.on_one(core_type, text, inner, modifiers),
                    // An uncore PMU counts whatever the thread runs on.
                    None => self.anywhere(text),
                }
                .map_err(|refusal| refusal.of(&asked()))
            }
        }
    }

    /// An event that has nothing to do with core types.
    fn anywhere(&self, text: &str) -> Result<Event, Refusal> {
        let pmus = if text.contains('/') { self.platform.pmus() } else { Vec::new() };
        resolve(self.platform.cpu_model(), text, &pmus, None)
    }

    /// `cpu_core/NAME/`, or `cpu_core/TERM=N,…/` in the words of that PMU.
    fn on_one(
        &self,
        core_type: &Arc<CoreTypePmu>,
        text: &str,
        inner: &str,
        modifiers: &str,
    ) -> Result<Event, Refusal> {
        let name = match modifiers.trim_start_matches(':') {
            "" => inner.to_owned(),
            modifiers => format!("{inner}:{modifiers}"),
        };
        let named = resolve(core_type.model(), &name, &[], Some(core_type));
        let event = match named {
            Ok(event) if event.is_hardware() => event,
            Ok(event) => {
                return Err(Refusal {
                    kind: ErrorKind::InvalidInput,
                    why: format!("the kernel counts {event} wherever the thread runs"),
                });
            }
            Err(refusal) => {
                // It may be an alias or a term of the PMU itself.
                let pmus = self.platform.pmus();
                let by_terms = resolve(core_type.model(), text, &pmus, Some(core_type));
                by_terms.map_err(|by_terms| if inner.contains('=') { by_terms } else { refusal })?
            }
        };
        Ok(Event { name: part_name(core_type.name(), &event.name), ..event })
    }
}

/// An event that counts wherever its thread runs: with the terms of each core type.
fn on_every_core_type(core_types: &[Arc<CoreTypePmu>], text: &str) -> Result<Event> {
    let what = || format!("{text:?}");
    if software::find(text.split(':').next().unwrap_or(text)).is_some() {
        return resolve(CpuModel::generic(), text, &[], None)
            .map_err(|refusal| refusal.of(&what()));
    }
    let each = core_types.iter().map(|core_type| {
        let pmus = &[];
        (core_type, resolve(core_type.model(), text, pmus, Some(core_type)))
    });
    let (mut terms, mut first, mut able, mut refused) = (Vec::new(), None, Vec::new(), None);
    for (core_type, resolved) in each {
        match resolved {
            Ok(event) => {
                able.push(core_type);
                terms.extend(own_terms(&event).iter().cloned());
                first.get_or_insert(event);
            }
            Err(refusal) if refused.is_none() => refused = Some((core_type, refusal)),
            Err(_) => {}
        }
    }
    match (first, refused) {
        (Some(event), None) => Ok(Event { source: Source::Hardware(terms), ..event }),
        (Some(_), Some((core_type, refusal))) => {
            let alone: Vec<String> = able.iter().map(|pmu| on_only(pmu.name(), text)).collect();
            let why = format!(
                "{}; ask for {}, which counts on those cores alone",
                refusal.why,
                alone.join(" or ")
            );
            let what = format!("{text:?} on {}", core_type.name());
            Err(Refusal { kind: ErrorKind::Unsupported, why }.of(&what))
        }
        (None, Some((_, refusal))) => Err(refusal.of(&what())),
        (None, None) => unreachable!("a hybrid has core types"),
    }
}

fn own_terms(event: &Event) -> &[Term] {
    match &event.source {
        Source::Hardware(terms) => terms,
        Source::Software(_) => &[],
    }
}

/// The PMU, the terms and the modifiers of `PMU/TERMS/MODIFIERS`.
fn in_perf_style(text: &str) -> Option<(&str, &str, &str)> {
    let (pmu, rest) = text.split_once('/')?;
    let (terms, modifiers) = rest.split_once('/')?;
    Some((pmu, terms, modifiers))
}

/// The request for the same event on one core type.
fn on_only(pmu: &str, text: &str) -> String {
    match in_perf_style(text) {
        Some((_, terms, modifiers)) => format!("{pmu}/{terms}/{modifiers}"),
        None => part_name(pmu, text),
    }
}
