//! `pacman-pmu events`: lists of events that are newer than the shipped tables.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use pacman_core::event::installed;
use pacman_core::platform::Platform;
use pacman_core::{Provenance, atomic_write};
use pacman_events::plural::number;
use pacman_events::shown::shown_path;
use pacman_events::{CpuModel, InstalledTable, UserTable};

use super::tables;
use crate::error::{self, CliError, CliResult};

/// Install a vendor's newer list of events
///
/// Names of that processor are then searched in it before the built-in table, by every command and by programs that use
/// the library. Presets keep their built-in events. There is a file for each table of events, in
/// $XDG_DATA_HOME/pacman-pmu/events or ~/.local/share/pacman-pmu/events.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    command: EventsCommand,
}

#[derive(Debug, Subcommand)]
enum EventsCommand {
    /// Check JSON files in perfmon's format and install their events, in place of those that were installed
    Update {
        /// Table of events whose processors the files describe [default: this machine's]
        #[arg(long, value_name = "NAME")]
        cpu: Option<String>,
        /// The files of one processor's core events
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List what is installed
    List,
    /// Remove the installed list of a table
    Remove {
        /// The table [default: this machine's]
        #[arg(value_name = "NAME")]
        cpu: Option<String>,
    },
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu events update --cpu skl skylake_core.json
  pacman-pmu events list
  pacman-pmu events remove skl

Exit status:
  0  done
  1  a file of the directory cannot be read, written or removed, or is damaged
  2  bad input: one line on standard error has the file, the event and the reason, and nothing changes
  4  the answer could not be written";

/// Installs, lists or removes.
pub(crate) fn events(args: &EventsArgs, machine: &dyn Platform, out: &mut dyn Write) -> CliResult {
    match &args.command {
        EventsCommand::Update { cpu, files } => {
            update(tables::named(cpu.as_deref(), machine)?, files, out)
        }
        EventsCommand::List => list(out),
        EventsCommand::Remove { cpu } => remove(tables::named(cpu.as_deref(), machine)?, out),
    }
}

fn update(cpu: CpuModel, files: &[PathBuf], out: &mut dyn Write) -> CliResult {
    let mut all = UserTable::default();
    let mut sources = Vec::new();
    for file in files {
        let table = tables::read(cpu, file)?;
        if let Some(other) = table.belongs_elsewhere(cpu) {
            return Err(CliError::BadInput(format!(
                "{}: its events are those of {other} ({}), not of {cpu}; name the list of {cpu}, or install this one \
                 with --cpu {other}",
                shown_path(file),
                other.title()
            )));
        }
        let name = file.file_name().map_or("".into(), |name| name.to_string_lossy());
        sources.push(table.source(&name));
        all = all.joined(table).map_err(|event| {
            CliError::BadInput(format!(
                "{}: {event}: another of the files has it with another code",
                shown_path(file)
            ))
        })?;
    }
    let date = Provenance::here(None, SystemTime::now()).date();
    let text = InstalledTable { table: all, sources, date }.to_text(cpu);
    // The library reads it: nothing that it refuses is installed.
    let kept = InstalledTable::parse(cpu, &text).map_err(|why| {
        let named: Vec<_> = files.iter().map(|file| shown_path(file).to_string()).collect();
        CliError::BadInput(why).within(named.join(", "))
    })?;
    let path = path(cpu)?;
    let cannot = |error| {
        CliError::Refused(format!(
            "cannot write {}: {error}; make its directory writable, or set XDG_DATA_HOME to one that is",
            shown_path(&path)
        ))
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(cannot)?;
    }
    atomic_write::write(&path, text.as_bytes()).map_err(cannot)?;
    let events = number(kept.table.names().len(), "event");
    writeln!(out, "installed {events} of {cpu} ({}) in {}", cpu.title(), shown_path(&path))?;
    Ok(0)
}

fn list(out: &mut dyn Write) -> CliResult {
    let mut status = 0;
    let mut some = false;
    for cpu in CpuModel::all() {
        match installed::read(cpu) {
            Ok(None) => {}
            Ok(Some(found)) => {
                some = true;
                let InstalledTable { table, sources, date } = found.content;
                let events = number(table.names().len(), "event");
                let lists: Vec<_> = sources.iter().map(ToString::to_string).collect();
                let file = shown_path(&found.file);
                writeln!(
                    out,
                    "{cpu}: {events} of {}; installed {date} in {file}",
                    lists.join("; ")
                )?;
            }
            Err(line) => {
                some = true;
                status = error::REFUSED;
                out.flush()?;
                error::complain(line);
            }
        }
    }
    if !some {
        writeln!(out, "no list of events is installed")?;
    }
    Ok(status)
}

fn remove(cpu: CpuModel, out: &mut dyn Write) -> CliResult {
    let path = path(cpu)?;
    match fs::remove_file(&path) {
        Ok(()) => writeln!(out, "removed {}", shown_path(&path))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(CliError::BadInput(format!(
                "no list of events is installed for {cpu}: pacman-pmu events list shows all"
            )));
        }
        Err(error) => {
            let named = shown_path(&path);
            return Err(CliError::Refused(format!(
                "cannot remove {named}: {error}; make its directory writable"
            )));
        }
    }
    Ok(0)
}

fn path(cpu: CpuModel) -> CliResult<PathBuf> {
    installed::file(cpu).ok_or_else(|| {
        CliError::Refused(
            "there is no directory for lists of events: neither XDG_DATA_HOME nor HOME is an absolute \
             path; set one of them"
                .into(),
        )
    })
}
