//! One run of the command, from its first instruction to the answer.

use std::io;
use std::time::{Duration, Instant};

use pacman_events::shown::shown;

use super::launch::Held;
use super::progress::Progress;
use super::writer::AnswerWriter;
use crate::error::{self, CliError, CliResult};
use crate::quota::QuotaWatch;
use crate::signals::{Signals, Wake};
use crate::system;
use pacman_report::exit::{Exit, INTERRUPTED};
use pacman_report::stat::{Figures, Interval, Row, Usage};

/// A collector of counts while the command runs.
pub(super) trait Collector {
    /// The command is about to begin.
    fn start(&mut self);

    /// Handles what children and followed threads have to tell.
    fn advance(&mut self) -> io::Result<Advance>;

    /// Reads all counters.
    fn look(&mut self);

    /// All counts, as of the last look.
    fn whole(&mut self) -> Vec<Row>;

    /// The counts since the last call of this.
    fn since_mark(&mut self) -> Vec<Row>;

    /// The number of threads or contexts that are counted now, in words.
    fn running(&self) -> String;

    /// Detaches the threads that outlive the command, and answers notes about them.
    fn let_go(&mut self, signals: &Signals) -> io::Result<Vec<String>>;

    /// Detaches the command after [`Advance::Lost`], and waits for its end if possible.
    fn abandon(&mut self, signals: &Signals) -> io::Result<()>;

    /// Whether the command is the subject, and not only the length of the run.
    fn follows_command(&self) -> bool;

    /// Whether the counts are those of a simulated machine.
    fn is_simulated(&self) -> bool;

    /// The counted time.
    fn time(&self) -> Duration;
}

/// The result of one step.
#[derive(Debug)]
pub(super) enum Advance {
    /// There may be more to handle at once.
    More,
    Waiting,
    /// The command could not be begun.
    NotBegun,
    /// The command could not be counted, and was not begun.
    Refused(CliError),
    /// The command has ended.
    Ended(Exit),
    /// The system refuses a request without which the command cannot be followed further.
    Lost(io::Error),
}

/// The result of counting.
pub(super) enum Outcome {
    Counted {
        elapsed: Duration,
        /// The end of the command; `None` if it goes on.
        exit: Option<Exit>,
        /// A signal asked for the end.
        asked: bool,
    },
    /// The command could not be followed to its end. A line on standard error has the reason.
    Lost,
}

/// Lets the command begin, counts until it ends and writes the answer.
pub(super) fn run(
    held: Option<Held>,
    collector: &mut dyn Collector,
    signals: &Signals,
    mut writer: AnswerWriter,
) -> CliResult {
    let has_command = held.is_some();
    match count(held, collector, signals, &mut writer)? {
        Outcome::Lost => Ok(error::REFUSED),
        Outcome::Counted { elapsed, exit, .. } => {
            let unwritten = writer.whole(elapsed, collector.whole(), exit);
            // Another program started the process, so its exit status is not passed on.
            let status = match has_command {
                true => exit.map_or(INTERRUPTED, Exit::status),
                false => 0,
            };
            Ok(unwritten.unwrap_or(status))
        }
    }
}

/// Lets the command begin and counts until it ends. Intervals are written meanwhile.
pub(super) fn count(
    mut held: Option<Held>,
    collector: &mut dyn Collector,
    signals: &Signals,
    writer: &mut AnswerWriter,
) -> CliResult<Outcome> {
    let used_before = used_by_children();
    let quota = QuotaWatch::begin();
    let began = Instant::now();
    collector.start();
    if let Some(held) = &mut held {
        held.release()?;
    }
    let command = held.as_ref().map(|held| held.pid);
    let mut clock =
        Ticks { began, interval: writer.answer.interval, number: 0, begin: Duration::ZERO };
    let mut progress = writer.is_live().then(|| Progress::new(began));
    let end = wait(command, collector, signals, writer, &mut clock, &mut progress)
        .map_err(|error| system(&error))?;
    let (exit, asked) = match end {
        End::Refused(refusal) => return Err(refusal),
        End::NotBegun => {
            let mut held = held.expect("who was not begun was held");
            return Err(held.problem());
        }
        End::Ended(exit, asked) => {
            let unknown = held.as_mut().filter(|_| !collector.follows_command());
            if let Some(problem) = unknown.and_then(Held::not_begun) {
                return Err(problem);
            }
            (Some(exit), asked)
        }
        End::LetGo => (None, true),
        End::Lost(error) => {
            if let Some(progress) = &mut progress {
                progress.wipe();
            }
            error::complain(lost(&writer.answer.subject(), &error));
            collector.abandon(signals).map_err(|error| system(&error))?;
            return Ok(Outcome::Lost);
        }
    };
    // The kernel adds the time of a child process when it is waited for.
    writer.answer.usage =
        exit.filter(|_| collector.follows_command()).map(|_| used_by_children().since(used_before));
    collector.look();
    let elapsed = collector.time();
    let outlived = collector.let_go(signals).map_err(|error| system(&error))?;
    writer.answer.notes.extend(outlived);
    // Where contexts are counted, the command is not the subject.
    let account = quota.filter(|_| collector.follows_command()).and_then(QuotaWatch::end);
    let throttled = account.and_then(|account| account.throttled());
    writer.answer.notes.extend(throttled.map(|throttled| throttled.of_program()));
    writer.answer.simulated = collector.is_simulated();
    if let Some(progress) = &mut progress {
        progress.wipe();
    }
    if writer.answer.interval.is_some() {
        clock.part(collector, writer);
    }
    Ok(Outcome::Counted { elapsed, exit, asked })
}

/// The time of all child processes that ended and that this process waited for.
///
/// The command is such a child. Its followed threads and processes are not, so that none of
/// them counts twice.
fn used_by_children() -> Usage {
    let usage = system::usage(libc::RUSAGE_CHILDREN);
    let [user, system] = [usage.ru_utime, usage.ru_stime].map(system::duration);
    Usage { user, system }
}

/// The end of the wait.
enum End {
    /// The end, and whether a signal asked for it.
    Ended(Exit, bool),
    LetGo,
    NotBegun,
    Refused(CliError),
    Lost(io::Error),
}

/// Why a command that runs already is not counted.
fn lost(subject: &str, error: &io::Error) -> String {
    format!(
        "cannot follow {} any further: ptrace says {error}; it runs on uncounted: allow ptrace \
         in the container's profile, or count with -a",
        shown(subject)
    )
}

fn wait(
    command: Option<libc::pid_t>,
    collector: &mut dyn Collector,
    signals: &Signals,
    writer: &mut AnswerWriter,
    clock: &mut Ticks,
    progress: &mut Option<Progress>,
) -> io::Result<End> {
    let mut asked = 0u32;
    let mut more = true;
    loop {
        let now = Instant::now();
        let due = [clock.next(), progress.as_ref().map(Progress::next)];
        let deadline = due.into_iter().flatten().min().unwrap_or(now + LOOK_ANYWAY);
        let deadline = if more { now } else { deadline.min(now + LOOK_ANYWAY) };
        match (signals.wait(deadline)?, command) {
            (Wake::Signal(_), None) => return Ok(End::LetGo),
            (Wake::Signal(sent), Some(_)) if sent.asks_to_end() && asked > 0 => {
                return Ok(End::LetGo);
            }
            // The command decides whether to end.
            (Wake::Signal(sent), Some(pid)) => {
                asked += u32::from(sent.asks_to_end());
                sent.pass_on(pid);
            }
            (Wake::Child | Wake::Time, _) => {}
        }
        more = match collector.advance()? {
            Advance::More => true,
            Advance::Waiting => false,
            Advance::Ended(exit) => {
                let asked = signals.asked_to_end()? || asked > 0;
                return Ok(End::Ended(exit, asked));
            }
            Advance::NotBegun => return Ok(End::NotBegun),
            Advance::Refused(refusal) => return Ok(End::Refused(refusal)),
            Advance::Lost(error) => return Ok(End::Lost(error)),
        };
        if clock.next().is_some_and(|next| next <= Instant::now()) {
            collector.look();
            clock.part(collector, writer);
        }
        if let Some(progress) = progress.as_mut().filter(|line| line.next() <= Instant::now()) {
            collector.look();
            let total = Figures::sum(collector.whole().iter().map(|row| &row.figures));
            let first = total.counts.as_ref().and_then(|counts| counts.first()?.value());
            let name = writer.answer.columns.events.first().map(|event| event.name.as_str());
            progress.draw(collector.time(), &collector.running(), first.zip(name));
        }
    }
}

/// The intervals of a run.
struct Ticks {
    began: Instant,
    interval: Option<Duration>,
    number: usize,
    begin: Duration,
}

impl Ticks {
    /// When the running interval ends: a late end makes it longer, and the next ones not
    /// shorter.
    fn next(&self) -> Option<Instant> {
        self.interval.map(|interval| self.began + self.begin + interval)
    }

    fn part(&mut self, collector: &mut dyn Collector, writer: &mut AnswerWriter) {
        let end = self.began.elapsed();
        let interval = Interval { number: Some(self.number), begin: self.begin, end };
        writer.answer.simulated = collector.is_simulated();
        writer.part(interval, collector.since_mark());
        (self.number, self.begin) = (self.number + 1, end);
    }
}

fn system(error: &io::Error) -> CliError {
    CliError::Refused(format!("cannot count: the system says {error}"))
}

/// Signals of children can merge; a look now and then costs nothing.
const LOOK_ANYWAY: Duration = Duration::from_millis(500);
