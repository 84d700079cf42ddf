//! The measurements of earlier runs of the program.
//!
//! The command names the directory; the library only reads there, once, and records what it measures
//! with the outcome of each region. The command adds that to the file after the run.

use pacman_adapt::Evidence;
use pacman_adapt::predict::machine_share;
use pacman_core::Topology;
use pacman_regions::{
    FileIdentity, ProgramKey, ProgramMemory, RegionMemory, Remembered, hash_of_arguments,
};

use crate::adapted::Phase;
use crate::module::{Module, entry_of_program};
use crate::notes;
use crate::phases;
use crate::process;
use crate::region::Region;

/// The name of the group of short regions among the regions of a program.
const GROUP: &str = "short regions";

/// The memory of this program on this machine.
#[derive(Debug)]
pub(super) struct Memory {
    known: ProgramMemory,
    /// The hash of the program's arguments.
    arguments: String,
}

impl Memory {
    /// Reads the memory. `None` if the user wants none, or if the program has no build ID.
    pub(super) fn read(topology: &Topology) -> Option<Memory> {
        let directory = process::options().memory.as_deref()?;
        if let Err(why) = ProgramMemory::check(directory) {
            notes::note(format!("adaptation starts from nothing, and nothing is kept: {why}"));
            return None;
        }
        let of = key(topology)?;
        let known = ProgramMemory::read_in(directory, &of).unwrap_or_else(|why| {
            notes::note(format!(
                "adaptation starts from nothing: {why}; what this run measures replaces the file"
            ));
            ProgramMemory::new(of)
        });
        Some(Memory { known, arguments: arguments() })
    }

    /// The measurements of `region` in earlier runs, with teams of `default` threads.
    pub(super) fn evidence(&self, region: &Region, default: u32, places: bool) -> Vec<Evidence> {
        let wanted = code_of(region).and_then(|code| self.empty(code, default, places));
        let Some(wanted) = wanted else { return Vec::new() };
        self.of(&wanted).collect()
    }

    /// The measurements of the group, whose stretches of `seconds` had teams of `default` threads, in earlier runs
    /// with the same arguments. Other arguments may give members another share of a stretch.
    pub(super) fn evidence_of_group(&self, default: u32, seconds: f64) -> Vec<Evidence> {
        let Some(wanted) = self.empty(GROUP.to_owned(), default, false) else { return Vec::new() };
        let same = self.of(&wanted).filter(|known| known.is_same_work);
        same.map(|known| Evidence { default_cost: seconds, ..known }).collect()
    }

    fn of<'m>(&'m self, wanted: &'m RegionMemory) -> impl Iterator<Item = Evidence> + use<'m> {
        let known = self.known.regions.iter().filter(|known| known.is_of(wanted));
        known.map(|known| {
            let ratio = |(on, ratio): &(String, f64)| Some((on.parse().ok()?, *ratio));
            let ratios = known.ratios.iter().filter_map(ratio);
            Evidence {
                default_cost: known.default_cost,
                ratios: ratios.collect(),
                is_same_work: known.arguments == wanted.arguments,
            }
        })
    }

    /// The measurements of `region` in this run; `None` if there are none.
    pub(super) fn remembered(&self, region: &Region, phase: &Phase) -> Option<Remembered> {
        self.measured(self.empty(code_of(region)?, phase.default(), phase.places)?, phase)
    }

    /// The measurements in this run of the group whose first member usually takes `seconds`.
    pub(super) fn remembered_of_group(&self, phase: &Phase, seconds: f64) -> Option<Remembered> {
        let mut all =
            self.measured(self.empty(GROUP.to_owned(), phase.default(), false)?, phase)?;
        // Every stretch costs the same at the default, and so does not tell the work of one program from
        // that of another.
        all.region.default_cost = seconds;
        GROUP.clone_into(&mut all.region.name);
        Some(all)
    }

    fn measured(&self, key: RegionMemory, phase: &Phase) -> Option<Remembered> {
        let Evidence { default_cost, ratios, .. } = phase.controller.evidence()?;
        let region = RegionMemory {
            default_cost,
            ratios: ratios.into_iter().map(|(on, ratio)| (on.to_string(), ratio)).collect(),
            executions: phase.controller.account().executions(),
            runs: 1,
            ..key
        };
        Some(Remembered { of: self.known.of.clone(), region })
    }

    /// A memory without measurements: its key.
    fn empty(&self, region: String, threads: u32, placed: bool) -> Option<RegionMemory> {
        Some(RegionMemory {
            region,
            name: String::new(),
            arguments: self.arguments.clone(),
            threads,
            placed,
            objective: process::options().adapt?.to_string(),
            default_cost: 0.0,
            ratios: Vec::new(),
            executions: 0,
            runs: 0,
        })
    }
}

/// The code of `region`, with the label of its kernel. `None` if its file has no build ID.
fn code_of(region: &Region) -> Option<String> {
    let build_id = region.module.identity.as_ref().and_then(FileIdentity::build_id)?;
    let mut code = format!("{build_id}+{:#x}", region.offset);
    if let Some(label) = phases::names::of_label(region.label) {
        code += &format!(" {label}");
    }
    Some(code)
}

/// This program on this machine.
fn key(topology: &Topology) -> Option<ProgramKey> {
    let program = Module::of(entry_of_program());
    let build_id = program.identity.as_ref().and_then(FileIdentity::build_id)?.to_owned();
    Some(ProgramKey {
        program: program.path.file_name()?.to_string_lossy().into_owned(),
        build_id,
        machine: machine_share(topology),
    })
}

/// A hash of the program's arguments, without its own name: another path to it changes nothing.
fn arguments() -> String {
    let words = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let end = words.iter().position(|&byte| byte == 0).unwrap_or(words.len());
    hash_of_arguments(&words[end..])
}
