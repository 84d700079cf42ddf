//! Names of groups of events in a list.

use std::borrow::Cow;

use pacman_events::{CpuModel, EventGroup};

use super::resolve::names_of;
use super::resolved::Event;
use pacman_events::{Error, ErrorKind, Result};

impl Event {
    /// The list with the events of the model in place of a group's name, such as `TOPDOWN`.
    ///
    /// Modifiers of the group (`TOPDOWN:uk`) become those of each event.
    ///
    /// ```
    /// use pacman_core::Event;
    /// use pacman_events::CpuModel;
    /// let skylake = CpuModel::named("skl").unwrap();
    /// let list = Event::expand_groups(skylake, "page-faults,TOPDOWN")?;
    /// assert!(list.starts_with("page-faults,CPU_CLK_UNHALTED.THREAD_ANY,UOPS_RETIRED."));
    /// # Ok::<(), pacman_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Unsupported` for a group that the model cannot count.
    pub fn expand_groups(cpu: CpuModel, list: &str) -> Result<Cow<'_, str>> {
        if !names_of(list).any(|name| Event::group(name).is_some()) {
            return Ok(Cow::Borrowed(list));
        }
        let mut names: Vec<Cow<'_, str>> = Vec::new();
        for name in names_of(list) {
            let Some((group, modifiers)) = Event::group(name) else {
                names.push(name.into());
                continue;
            };
            let events = group.events(cpu).ok_or_else(|| unknown(group, cpu))?;
            names.extend(events.iter().map(|event| format!("{event}{modifiers}").into()));
        }
        Ok(Cow::Owned(names.join(",")))
    }

    /// The group that a name of a list stands for, with its modifiers (`:uk`).
    pub fn group(name: &str) -> Option<(EventGroup, &str)> {
        let name = name.trim();
        let at = name.find(':').unwrap_or(name.len());
        Some((EventGroup::named(&name[..at])?, &name[at..]))
    }
}

#[cold]
fn unknown(group: EventGroup, cpu: CpuModel) -> Error {
    let (group, title) = (group.name(), cpu.title());
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot count {group:?}: {title} has no events for it; `pacman-pmu metrics --cpu {}` \
             shows which metrics it can count",
            cpu.name()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_becomes_the_models_events_in_its_modes() {
        let zen4 = CpuModel::named("zen4").unwrap();
        let events = Event::parse_list_on(zen4, "page-faults, topdown:uk").unwrap();
        let names: Vec<&str> = events.iter().map(Event::name).collect();
        assert_eq!(names[..3], ["page-faults", "SLOTS:uk", "TOPDOWN_RETIRING:uk"]);
        assert_eq!(names.len(), 7);
        // Without a group a list stays as it is.
        let list = Event::expand_groups(zen4, "CYCLES, cpu/event=0x76,umask=0/").unwrap();
        assert!(matches!(list, Cow::Borrowed(_)));
    }

    #[test]
    fn a_model_without_the_events_says_so() {
        let nehalem = CpuModel::named("nhm").unwrap();
        let error = Event::parse_list_on(nehalem, "TOPDOWN").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(
            error.to_string(),
            "cannot count \"TOPDOWN\": Nehalem has no events for it; `pacman-pmu metrics --cpu \
             nhm-ep` shows which metrics it can count"
        );
    }
}
