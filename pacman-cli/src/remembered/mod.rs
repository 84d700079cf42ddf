//! `pacman-pmu memory`: the costs that adaptation has measured in earlier runs.

mod store;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use pacman_events::shown::shown_path;
use pacman_regions::{ProgramKey, RegionMemory, Remembered, StartMemory};
use serde::Serialize;

use crate::error::{CliError, CliResult};
use crate::terminal::Fitted;
use pacman_report::document;
use store::Kept;
pub(crate) use store::{Store, cache};

/// Show or forget the costs that adaptation has measured in earlier runs of programs.
///
/// `pacman-pmu run --adapt` keeps the costs that it measures, and the next run of the same build of the
/// program starts from them: with the number of threads that was best for the whole program, if the user leaves it
/// open, and with the costs of regions. There is a file for each program and machine, in $PACMAN_OMP_MEMORY,
/// $XDG_CACHE_HOME/pacman-pmu/memory or ~/.cache/pacman-pmu/memory. Nothing is kept if
/// PACMAN_OMP_MEMORY is empty.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum MemoryCommand {
    /// List the programs, the latest first
    List {
        /// Print JSON, with all regions
        #[arg(long)]
        json: bool,
    },
    /// Show the regions of a program: the best configuration of each, and what it costs
    Show {
        /// The name of the program's file
        program: String,
    },
    /// Forget a program
    Forget {
        /// The name of the program's file
        #[arg(required_unless_present = "all")]
        program: Option<String>,
        /// Forget all programs
        #[arg(long, conflicts_with = "program")]
        all: bool,
    },
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu memory list
  pacman-pmu memory show cg.W
  pacman-pmu memory forget cg.W
  pacman-pmu memory forget --all
  pacman-pmu run --adapt --narrow --no-memory -- ./cg.W
                                           a run that neither uses nor adds to it

Exit status:
  0  done
  1  the directory cannot be read, or a file cannot be removed
  2  bad input, or nothing is kept of that program
  4  the answer could not be written";

const JSON: &str = include_str!("../help/memory.txt");

/// Lists, shows or forgets.
pub(crate) fn memory(args: &MemoryArgs, out: &mut dyn Write) -> CliResult {
    let store = Store::of_user().ok_or_else(|| {
        let why = "there is no memory: PACMAN_OMP_MEMORY is empty, or neither XDG_CACHE_HOME nor HOME is \
                   an absolute path; set one of them";
        CliError::Refused(why.to_owned())
    })?;
    store.check().map_err(CliError::Refused)?;
    let all = store.all().map_err(|error| {
        CliError::Refused(format!(
            "cannot read {}: {error}; PACMAN_OMP_MEMORY names another directory",
            shown_path(store.directory())
        ))
    })?;
    match &args.command {
        MemoryCommand::List { json: true } => document::write(out, &list(store.directory(), &all))?,
        MemoryCommand::List { json: false } => {
            text::list(&mut Fitted::stdout(out), store.directory(), &all)?
        }
        MemoryCommand::Show { program } => {
            text::show(&mut Fitted::stdout(out), &of(&all, program)?)?
        }
        MemoryCommand::Forget { program, .. } => {
            let chosen = match program {
                Some(program) => of(&all, program)?,
                None => all.iter().collect(),
            };
            for kept in chosen {
                fs::remove_file(&kept.path).map_err(|error| {
                    CliError::Refused(format!("cannot remove {}: {error}", shown_path(&kept.path)))
                })?;
                writeln!(out, "forgot {}", shown_path(&kept.path))?;
            }
        }
    }
    out.flush()?;
    Ok(0)
}

/// The files of a program, on any machine and of any build; damaged files by their names.
fn of<'a>(all: &'a [Kept], program: &str) -> CliResult<Vec<&'a Kept>> {
    let is_of = |kept: &&Kept| match &kept.memory {
        Ok(memory) => memory.of.program == program,
        Err(_) => kept.path.file_name().is_some_and(|name| {
            name.to_str().is_some_and(|name| name.starts_with(&format!("{program}-")))
        }),
    };
    let found: Vec<&Kept> = all.iter().filter(is_of).collect();
    match found.is_empty() {
        true => Err(CliError::BadInput(format!(
            "nothing is kept of {program:?}: `pacman-pmu memory list` has the programs"
        ))),
        false => Ok(found),
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ListDocument<'a> {
    /// Format of the document.
    #[cfg_attr(test, schemars(extend("const" = "pacman-memory-list")))]
    format: &'static str,
    /// Version of the format.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    version: u32,
    /// Directory of the files.
    directory: String,
    /// Files, the latest first.
    programs: Vec<ProgramDocument<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ProgramDocument<'a> {
    /// Path of the file.
    file: String,
    /// Name of the program's file; null if this file is no memory.
    program: Option<&'a str>,
    /// Build ID of that file; null if this file is no memory.
    build_id: Option<&'a str>,
    /// Machine, and the contexts that the program may use; null if this file is no memory.
    machine: Option<&'a str>,
    /// Regions that were measured.
    #[cfg_attr(test, schemars(with = "Vec<crate::tests::schemas::foreign::RegionMemory>"))]
    regions: &'a [RegionMemory],
    /// Runs by the number of threads that they started with.
    #[cfg_attr(test, schemars(with = "Vec<crate::tests::schemas::foreign::StartMemory>"))]
    starts: &'a [StartMemory],
    /// Reason why the file is no memory.
    wrong: Option<&'a str>,
}

fn list<'a>(directory: &Path, all: &'a [Kept]) -> ListDocument<'a> {
    let program = |kept: &'a Kept| {
        let memory = kept.memory.as_ref().ok();
        ProgramDocument {
            file: shown_path(&kept.path).to_string(),
            program: memory.map(|memory| memory.of.program.as_str()),
            build_id: memory.map(|memory| memory.of.build_id.as_str()),
            machine: memory.map(|memory| memory.of.machine.as_str()),
            regions: memory.map_or(&[], |memory| &memory.regions),
            starts: memory.map_or(&[], |memory| &memory.starts),
            wrong: kept.memory.as_ref().err().map(String::as_str),
        }
    };
    ListDocument {
        format: "pacman-memory-list",
        version: 1,
        directory: shown_path(directory).to_string(),
        programs: all.iter().map(program).collect(),
    }
}

/// Keeps what the regions of a run have measured, each with its name, and the cost of the run. Answers a line for each
/// program whose file cannot be written.
pub(crate) fn keep<'a>(
    store: &Store,
    measured: impl Iterator<Item = (&'a str, &'a Remembered)>,
    cost: Option<(ProgramKey, StartMemory)>,
) -> Vec<String> {
    let mut programs: BTreeMap<ProgramKey, (Vec<RegionMemory>, Option<StartMemory>)> =
        BTreeMap::new();
    for (name, remembered) in measured {
        let mut region = remembered.region.clone();
        // A group of regions has a name of its own.
        if region.name.is_empty() {
            name.clone_into(&mut region.name);
        }
        programs.entry(remembered.of.clone()).or_default().0.push(region);
    }
    if let Some((of, start)) = cost {
        programs.entry(of).or_default().1 = Some(start);
    }
    let add = |(of, (regions, start))| store.add(&of, regions, start).err();
    programs.into_iter().filter_map(add).collect()
}
