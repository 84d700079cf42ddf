//! `pacman-pmu compare`: two runs of a program, or several runs before and after a change.

use std::io::Write;
use std::path::{Path, PathBuf};

use pacman_core::atomic_write;
use pacman_events::shown::shown_path;
use pacman_report::compare::{Comparison, Form, RunDocument};

use crate::error::{CliError, CliResult};
use crate::terminal::Terminal;

/// Compare two runs of a program, region by region.
///
/// A.json and B.json are reports of `pacman-pmu run -o FILE.json`: before and after a change. Regions are
/// matched by function and source file, in any directory; lines may move. Time, waits and counts stand side by side. With several reports on
/// each side, medians are compared, and a 95 % interval gives the noise. With one report on each side,
/// the interval has only the noise of a region's executions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct CompareArgs {
    /// The report before and the report after; with --to, all reports before
    #[arg(value_name = "A.json", required = true)]
    before: Vec<PathBuf>,

    /// The reports after
    #[arg(long, value_name = "B.json", num_args = 1..)]
    to: Vec<PathBuf>,

    /// Call a region slower or faster from this difference on, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    threshold: f64,

    /// Let regions with less than this part of the time change no exit status, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    least: f64,

    /// Do not doubt reports before that are newer than those after
    #[arg(long)]
    any_order: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write the comparison to FILE (.txt, .json or .html) instead
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu compare old.json new.json
  pacman-pmu compare old1.json old2.json old3.json --to new1.json new2.json new3.json
  pacman-pmu compare old.json new.json --threshold 10 -o comparison.html

Exit status:
  0  no region got slower beyond the threshold and the noise
  1  a region got slower
  2  bad input: one line on standard error gives the reason
  3  no region of one side is on the other: nothing was compared
  4  the comparison could not be written";

const JSON: &str = include_str!("help/compare.txt");

/// A region got slower.
const SLOWER: u8 = 1;
/// No region of one side is on the other.
const NOTHING_COMPARED: u8 = 3;

/// Compares the reports. The exit status says whether a region got slower.
pub(crate) fn compare(args: &CompareArgs, out: &mut dyn Write) -> CliResult {
    let (before, after) = match (&args.before[..], &args.to[..]) {
        ([before, after], []) => (vec![before], vec![after]),
        (before, [_, ..]) => (before.iter().collect(), args.to.iter().collect()),
        ([_], []) => {
            let why = "cannot compare one report: name a second one";
            return Err(CliError::bad_input(why));
        }
        _ => {
            let why = "cannot tell the reports before from those after: put --to between them";
            return Err(CliError::bad_input(why));
        }
    };
    for (option, value) in [("--threshold", args.threshold), ("--least", args.least)] {
        if !(0.0..=1000.0).contains(&value) {
            return Err(CliError::BadInput(format!("{option} {value}: give 0 to 1000 percent")));
        }
    }
    let form = form_of(args.output.as_deref(), args.json, "a comparison")?;
    let read = |paths: Vec<&PathBuf>| -> CliResult<Vec<RunDocument>> {
        paths.into_iter().map(|path| Ok(RunDocument::read(path, "compare")?)).collect()
    };
    let (before, after) = (read(before)?, read(after)?);
    let (threshold, least) = (args.threshold / 100.0, args.least / 100.0);
    let comparison = Comparison::of(&before, &after, threshold, args.any_order);
    let to = args.output.as_deref();
    write(to, out, |width| form.text(&comparison, threshold, least, width))?;
    Ok(match comparison.is_empty() {
        true => NOTHING_COMPARED,
        false if comparison.has_slower(least) => SLOWER,
        false => 0,
    })
}

/// The form of an answer: that of the file's name, or of `--json`.
pub(crate) fn form_of(path: Option<&Path>, json: bool, what: &str) -> CliResult<Form> {
    match path {
        Some(path) => Form::of(path).ok_or_else(|| {
            CliError::BadInput(format!(
                "cannot tell the form of {what} from {}: it ends in .txt, .json or .html",
                shown_path(path)
            ))
        }),
        None if json => Ok(Form::Json),
        None => Ok(Form::Text),
    }
}

/// Writes an answer to a file, or to `out` with lines as wide as the terminal.
pub(crate) fn write(
    path: Option<&Path>,
    out: &mut dyn Write,
    answer: impl FnOnce(usize) -> String,
) -> CliResult<()> {
    let Some(path) = path else {
        return Ok(out.write_all(answer(Terminal::stdout().width()).as_bytes())?);
    };
    let written = atomic_write::write(path, answer(usize::MAX).as_bytes());
    written.map_err(|error| CliError::unwritable(path, &error))
}
