//! Several runs of the command.

use std::time::Duration;

use pacman_report::exit::{Exit, INTERRUPTED};
use pacman_report::stat::{Run, Usage, row};

use super::arguments::StatArgs;
use super::launch::Held;
use super::run::{Collector, Outcome, count};
use super::writer::AnswerWriter;
use crate::error::{self, CliResult};
use crate::signals::Signals;

/// Runs the command as often as `args` asks for. The exit status is the first one that is not 0.
pub(super) fn repeat<'a>(
    args: &StatArgs,
    times: u32,
    signals: &Signals,
    mut writer: AnswerWriter,
    mut follower: impl FnMut(&Held) -> Box<dyn Collector + 'a>,
) -> CliResult {
    let mut rows = Vec::new();
    let (mut elapsed, mut used, mut failed) = (Duration::ZERO, Some(Usage::default()), None);
    for number in 1..=times {
        let held = Held::start(&args.command, signals)?;
        held.follow()?;
        let mut collector = follower(&held);
        let noted = writer.answer.notes.len();
        let (took, exit, asked) = match count(Some(held), &mut *collector, signals, &mut writer)? {
            Outcome::Counted { elapsed, exit, asked } => (elapsed, exit, asked),
            Outcome::Lost => return Ok(error::REFUSED),
        };
        for note in &mut writer.answer.notes[noted..] {
            *note = format!("run {number}: {note}");
        }
        if asked {
            writer.answer.notes.push(format!("run {number} was interrupted and is left out"));
            failed = failed.or(Some(exit.map_or(INTERRUPTED, Exit::status)));
            break;
        }
        let usage = writer.answer.usage;
        let run = Run { label: number.to_string(), begin: elapsed, usage, exit };
        rows.push(row(&writer.answer.columns, run, collector.whole(), took));
        elapsed += took;
        used = used.zip(usage).map(|(used, usage)| used.and(usage));
        if let Some(exit) = exit.filter(|exit| exit.status() != 0) {
            writer
                .answer
                .notes
                .push(format!("run {number}: {exit}; its figures are among those above"));
            failed = failed.or(Some(exit.status()));
        }
    }
    writer.answer.usage = used;
    let exit = Some(Exit::Status(failed.unwrap_or(0)));
    Ok(writer.runs(elapsed, rows, exit).or(failed).unwrap_or(0))
}
