//! Bars of the four states, core by core.

use pacman_events::plural::number;
use std::fmt::Write;

use pacman_metrics::smt::Method;

use super::meter::{Activity, CoreActivity};
use super::source::Basis;
use crate::terminal::Terminal;

/// The abilities of standard output's reader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether blocks can be drawn.
    pub(super) unicode: bool,
    /// Whether they are coloured.
    pub(super) colour: bool,
    /// The lines of the screen, which a frame must not exceed to be drawn over.
    pub(super) rows: usize,
}

/// Draws one activity after the other in the same place.
pub(super) struct Picture {
    style: Style,
    /// Lines of the frame on the screen.
    drawn: usize,
}

impl Style {
    /// The style that fits standard output as it is.
    pub(super) fn of_stdout() -> Style {
        let terminal = Terminal::stdout();
        Style {
            unicode: terminal.is_terminal && terminal.unicode,
            colour: terminal.colour,
            rows: terminal.lines.unwrap_or(24),
        }
    }
}

impl Picture {
    pub(super) fn new(style: Style) -> Picture {
        Picture { style, drawn: 0 }
    }

    /// The interval just over, in place of the one before.
    pub(super) fn frame(&mut self, activity: &Activity) -> String {
        let mut text = self.erase();
        let _ = writeln!(
            text,
            "after {:.1} s, in the last {:.1} s",
            activity.until,
            activity.seconds()
        );
        let cores = self.cores(activity);
        let room = self.style.rows.saturating_sub(3);
        for line in cores.lines().take(room) {
            text += line;
            text.push('\n');
        }
        let hidden = cores.lines().count().saturating_sub(room);
        if hidden > 0 {
            let _ = writeln!(text, "and {}", number(hidden, "core"));
        }
        self.drawn = text.lines().count();
        text
    }

    /// The whole measurement, in place of the last interval.
    pub(super) fn summary(&mut self, basis: &Basis, whole: &Activity) -> String {
        let mut text = self.erase();
        self.drawn = 0;
        let _ = writeln!(
            text,
            "activity of {} over {:.2} s, from {}",
            number(whole.cores.len(), "core"),
            whole.seconds(),
            origin(basis)
        );
        text.push('\n');
        text += &self.cores(whole);
        text.push('\n');
        for note in notes(basis, whole) {
            text += &note;
            text.push('\n');
        }
        text
    }

    /// Up to the first line of the last frame, and clear from there on.
    fn erase(&self) -> String {
        if self.drawn == 0 { String::new() } else { format!("\x1b[{}A\x1b[J", self.drawn) }
    }

    fn cores(&self, activity: &Activity) -> String {
        let most = activity.cores.iter().map(|core| core.cpus.len()).max().unwrap_or(1);
        let several = most > 1;
        let states = if several { "neither   one  both" } else { "   idle active" };
        let mut text = format!("{:>5} {:>9} {states}  {}\n", "core", "cpus", self.legend(most));
        for core in &activity.cores {
            let split = &core.split;
            let percent = |state: f64| 100.0 * split.share(state);
            let cpus: Vec<String> = core.cpus.iter().map(u32::to_string).collect();
            let one: f64 = split.only.iter().sum();
            let _ = write!(text, "{:>5} {:>9} ", core.core, cpus.join(","));
            let _ = match several {
                true => write!(
                    text,
                    "{:6.1}% {:4.1}% {:4.1}%",
                    percent(split.idle),
                    percent(one),
                    percent(split.shared)
                ),
                false => write!(text, "{:6.1}% {:5.1}%", percent(split.idle), percent(one)),
            };
            let _ = writeln!(text, "  {}{}", self.bar(core), range(core));
        }
        text
    }

    /// Both, then each alone, then neither, as parts of a bar.
    fn bar(&self, core: &CoreActivity) -> String {
        let split = &core.split;
        let mut bar = String::new();
        let (mut sum, mut drawn) = (0.0, 0);
        let alone = split.only.iter().enumerate();
        let states =
            [(BOTH, split.shared)].into_iter().chain(alone.map(|(at, &only)| (1 + at, only)));
        for (state, time) in states {
            sum += time;
            let end = (split.share(sum) * WIDTH as f64).round() as usize;
            let length = end.min(WIDTH).saturating_sub(drawn);
            bar += &self.paint(state, &self.glyph(state).repeat(length));
            drawn += length;
        }
        bar + &" ".repeat(WIDTH - drawn)
    }

    fn glyph(&self, state: usize) -> &'static str {
        let glyphs =
            if self.style.unicode { ["█", "▓", "▒", "░"] } else { ["#", "=", "-", "~"] };
        glyphs[state.min(glyphs.len() - 1)]
    }

    fn paint(&self, state: usize, text: &str) -> String {
        const COLOURS: [u8; 4] = [32, 36, 34, 35];
        let colour = COLOURS[state.min(COLOURS.len() - 1)];
        match self.style.colour && !text.is_empty() {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    fn legend(&self, several: usize) -> String {
        let entry = |(state, words): &(usize, &str)| {
            format!("{} {words}", self.paint(*state, self.glyph(*state)))
        };
        let alone = [(1, "only the first"), (2, "only the second"), (3, "only a further one")];
        let entries: Vec<String> = match several {
            1 => vec![entry(&(1, "active"))],
            _ => [(BOTH, "several")].iter().chain(alone.iter().take(several)).map(entry).collect(),
        };
        entries.join("  ")
    }
}

/// The origin of the figures, in words.
fn origin(basis: &Basis) -> String {
    let from = match basis.method {
        Method::IdleTimes => format!("the idle times in {}", basis.source),
        method => format!("{method} ({})", basis.source),
    };
    match basis.simulated {
        Some(machine) => format!("{from} of a simulated {machine}"),
        None => from,
    }
}

/// Warnings about the figures.
pub(super) fn notes(basis: &Basis, activity: &Activity) -> Vec<String> {
    let mut notes = Vec::new();
    let uncertain = activity.cores.iter().map(|core| core.split.share(core.split.uncertainty));
    let most = uncertain.fold(0.0, f64::max);
    let step = time(basis.step);
    let skew = activity.cores.iter().map(|core| activity.skew(core)).fold(0.0, f64::max);
    notes.push(match (most < USELESS, basis.is_counted()) {
        (true, false) => format!(
            "the source counts in steps of {step}: a context's idle time is right within {:.1} % \
             here",
            100.0 * most
        ),
        (true, true) => format!(
            "the counters go in steps of {step}, and a core's contexts were read within {} of each \
             other: every state is right within {} % here",
            time(skew),
            // Rounded up: it is never none.
            (1e5 * most).ceil() / 1e3
        ),
        (false, _) => format!(
            "this was too short for the source, which counts in steps of {step}: the figures say \
             nothing"
        ),
    });
    notes.extend(basis.choice.clone());
    let (one, several) = (1, 2);
    let cores_of =
        |least: usize| activity.cores.iter().filter(move |core| core.cpus.len() >= least);
    if activity.cores.iter().any(|core| core.cpus.len() == one) {
        let all = if cores_of(several).next().is_none() { "" } else { " on some cores" };
        notes.push(format!(
            "one context per core{all}: of the four states only idle and active are left"
        ));
    }
    if cores_of(several).any(|core| !core.split.is_decided()) {
        let undecided = match basis.is_counted() {
            false => {
                "idle times do not tell whether siblings ran at the same time: the figures hold \
                 for siblings that do not heed each other, the ranges in any case"
            }
            true => {
                "with more than two contexts a core the counts decide how long none was active, \
                 and bound the rest: the figures are one division of it, the ranges hold in any \
                 case"
            }
        };
        notes.push(undecided.into());
    }
    notes.extend(activity.notes.iter().cloned());
    notes
}

/// The bounds of several contexts' state, where it is not decided.
fn range(core: &CoreActivity) -> String {
    let split = &core.split;
    if split.is_decided() {
        return String::new();
    }
    let percent = |state: f64| 100.0 * split.share(state);
    let bounds = split.shared_bounds;
    format!("  both {:.0} to {:.0}%", percent(bounds.low), percent(bounds.high))
}

/// A length of time with a unit that suits it.
fn time(seconds: f64) -> String {
    let (unit, name) = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")]
        .into_iter()
        .find(|(unit, _)| seconds >= *unit)
        .unwrap_or((1e-9, "ns"));
    // Three digits, and none for a fraction that is not there.
    let rounded = (seconds / unit * 10.0).round() / 10.0;
    format!("{rounded} {name}")
}

/// An uncertainty of half the time leaves nothing to show.
const USELESS: f64 = 0.5;

/// The state of several contexts at once; those of one alone follow.
const BOTH: usize = 0;

/// Columns of a bar.
const WIDTH: usize = 40;
