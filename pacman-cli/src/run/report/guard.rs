//! The guards that kept a region as it was, with the place of the program's call.

use pacman_regions::Region;
use serde::Serialize;

use crate::run::names::{Name, Names, last};

/// A guard of a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct GuardReport {
    /// Name of the guard, for `--lift`.
    pub(in crate::run) guard: String,
    /// Reason in words.
    pub(in crate::run) why: String,
    /// Executions that it kept as they were.
    pub(in crate::run) executions: u64,
    /// The program's first call that made the guard act: `file:line`, or the module and an offset.
    pub(in crate::run) at: Option<String>,
}

impl GuardReport {
    /// The guards of a region.
    pub(super) fn all(region: &Region, names: &mut Names) -> Vec<GuardReport> {
        let guards = region.adaptation.iter().flat_map(|adaptation| &adaptation.guards);
        guards
            .map(|guarded| GuardReport {
                guard: guarded.guard.clone(),
                why: guarded.why.clone(),
                executions: guarded.executions,
                at: guarded.at.as_ref().map(|site| match names.of(site) {
                    Name { file: Some(file), line: Some(line), .. } => format!("{file}:{line}"),
                    _ => {
                        let module = site.module.to_string_lossy();
                        format!("{}+{:#x}", last(&module), site.address)
                    }
                }),
            })
            .collect()
    }

    /// The place of the call, for places without room.
    pub(in crate::run) fn short_place(&self) -> Option<&str> {
        self.at.as_deref().map(last)
    }
}
