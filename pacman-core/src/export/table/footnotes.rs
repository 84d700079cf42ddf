//! Warnings and explanations below the table.

use pacman_events::plural::{self, noun, number};
use std::collections::BTreeMap;

use super::block::{Member, UNBOUND};
use super::cell::{Marks, UNDEFINED, absent, at_least};
use super::{quantity, text};
use crate::export::TableStyle;
use crate::export::values::{Absent, count_of, only_set, phase_name};
use crate::report::{DOUBTED, EventSetRotation, Report, ThreadReport, ThreadState};

/// The meaning of the marks that the table used.
pub(super) fn legend(report: &Report, marks: &Marks, style: &TableStyle) -> Vec<String> {
    let mut lines = Vec::new();
    let mut explain = |used: bool, mark: &str, meaning: &str| {
        if used {
            lines.push(format!("{mark}  {meaning}"));
        }
    };
    explain(
        marks.unbound,
        UNBOUND,
        "not bound by the session: the thread was on this cpu when it attached and may have moved",
    );
    explain(
        marks.scaled,
        "~",
        match report.rotation {
            None => {
                "estimated for the whole time from the share of it that the column \"counted\" shows"
            }
            Some(_) => {
                "estimated for all runs from those that counted the event's set; a rate is that of \
                 the runs that counted both its parts"
            }
        },
    );
    explain(marks.missing, at_least(style), "the sum of those threads that have a figure");
    explain(marks.absent, absent(style), "no figure, for a reason given below");
    if let Some(doubt) = report.events.iter().find_map(|event| event.doubt) {
        explain(true, DOUBTED, &format!("may be wrong, and the rates made of it: {doubt}"));
    }
    let no_rate = match (marks.undefined, marks.excess) {
        (_, false) => "nothing to divide by, or a thread has no figure",
        (false, true) => "a clock counted more than the time of the runs",
        (true, true) => {
            "nothing to divide by, a thread has no figure, or a clock counted more than the time of \
             the runs"
        }
    };
    explain(marks.undefined || marks.excess, UNDEFINED, &format!("no rate: {no_rate}"));
    lines
}

/// The sets that rotated, and their events.
pub(super) fn of_sets(report: &Report) -> Vec<String> {
    let Some(rotation) = report.rotation else { return Vec::new() };
    let names = |events: Vec<usize>| {
        let names: Vec<String> =
            events.iter().map(|event| text::clean(&report.events[*event].name)).collect();
        names.join(", ")
    };
    let (every, single): (Vec<usize>, Vec<usize>) =
        (0..report.events.len()).partition(|event| only_set(report, *event).is_none());
    let how = match rotation {
        EventSetRotation::PerExecution => "rotated per execution",
        EventSetRotation::Staggered => "rotated per execution, staggered over the threads",
    };
    let with = match every.as_slice() {
        [] => String::new(),
        _ => format!("; every one has {}", names(every)),
    };
    let mut lines = vec![format!("{} sets {how}{with}", report.sets.len())];
    for set in 0..report.sets.len() {
        let own = single.iter().copied().filter(|event| only_set(report, *event) == Some(set));
        lines.push(format!("set {set}: {}", names(own.collect())));
    }
    lines
}

/// Which threads counted each set, and how often.
fn samples(report: &Report, phase: &str, members: &[Member<'_>], lines: &mut Vec<String>) {
    if report.rotation.is_none() {
        return;
    }
    let mut alike: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for (thread, row) in members {
        let executions = row.sets.iter().map(|set| set.executions).collect();
        alike.entry(executions).or_default().push(thread.number);
    }
    let mut alike: Vec<(Vec<u64>, Vec<usize>)> = alike.into_iter().collect();
    alike.sort_by(|(_, one), (_, two)| one.cmp(two));
    for (executions, which) in alike {
        let of = |(set, runs): (usize, &u64)| {
            format!("{} of set {set}", counted(u128::from(*runs), "run"))
        };
        let parts: Vec<String> = executions.iter().enumerate().map(of).collect();
        let each = if which.len() > 1 { "each of " } else { "" };
        lines.push(format!("{phase} on {each}{}: {}", text::threads(&which), parts.join(", ")));
    }
}

/// Notes on phases: absent counts with their cause, panics, recursions.
pub(super) fn of_phases(report: &Report, members: &[Vec<Member<'_>>]) -> Vec<String> {
    let mut lines = Vec::new();
    for (phase, members) in members.iter().enumerate() {
        let name = quoted(phase_name(report, phase));
        samples(report, &name, members, &mut lines);
        absences(report, &name, members, &mut lines);
        for (thread, row) in members {
            let on = format!("{name} on thread {}", thread.number);
            if row.open > 0 {
                let times = counted(row.open.into(), "time");
                lines.push(format!(
                    "{on} was begun {times} and not ended: what is open is not in it"
                ));
            }
            if let Some(aside) = &row.implausible {
                let executions = counted(aside.executions.into(), "execution");
                lines.push(format!(
                    "{on}: {executions} set aside as impossible, and in no figure; the first: {}",
                    text::clean(&aside.why)
                ));
            }
        }
        let panics = tally(members, |(_, row)| row.panics);
        if let Some((panics, threads)) = panics {
            lines.push(format!("{name}: {panics} ended by a panic on {threads}, and counted"));
        }
        let recursions = tally(members, |(_, row)| row.recursions);
        if let Some((recursions, threads)) = recursions {
            lines.push(format!(
                "{name}: {recursions} inside another of the same phase on {threads}, \
                 part of the outer one's figures"
            ));
        }
    }
    if lines.len() > PHASE_LINES {
        let more = lines.split_off(PHASE_LINES).len();
        lines.push(format!(
            "{} on phases {} left out here; JSON has all",
            number(more, "more remark"),
            plural::is(more)
        ));
    }
    let idle: Vec<String> = (0..report.phases.len())
        .filter(|&phase| members[phase].is_empty())
        .map(|phase| quoted(phase_name(report, phase)))
        .collect();
    if !idle.is_empty() {
        let (shown, rest) = idle.split_at(idle.len().min(NAMES));
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(" and {} more", quantity::grouped(rest.len() as u128))
        };
        lines.push(format!("named but never run: {}{more}", shown.join(", ")));
    }
    lines
}

/// Notes on threads: how they ended, lost samples, their own notes.
pub(super) fn of_threads(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |which: Vec<usize>, what: &str| {
        if !which.is_empty() {
            lines.push(format!("{}: {what}", text::threads(&which)));
        }
    };
    let numbers = |which: &dyn Fn(&ThreadReport) -> bool| -> Vec<usize> {
        report.threads.iter().filter(|t| which(t)).map(|t| t.number).collect()
    };
    say(
        numbers(&|thread| thread.state == ThreadState::Exited),
        "ended while attached, and detached for it",
    );
    say(
        numbers(&|thread| thread.state == ThreadState::Attached),
        "still attached when the report was made",
    );
    say(numbers(&|thread| thread.phases.is_empty()), "ran no phase");
    let dropped: u64 = report.threads.iter().map(|thread| thread.log_dropped).sum();
    if dropped > 0 {
        let samples = counted(dropped.into(), "sample");
        say(
            numbers(&|thread| thread.log_dropped > 0),
            &format!("log full, {samples} dropped from it"),
        );
    }
    // A line that many threads share is written once.
    let mut notes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for thread in &report.threads {
        for note in &thread.notes {
            notes.entry(note).or_default().push(thread.number);
        }
    }
    let mut notes: Vec<(&str, Vec<usize>)> = notes.into_iter().collect();
    notes.sort_by(|(_, one), (_, two)| one.cmp(two));
    let more = notes.len().saturating_sub(NOTES);
    for (note, mut which) in notes.into_iter().take(NOTES) {
        which.dedup();
        say(which, &text::clean(note));
    }
    if more > 0 {
        lines.push(format!(
            "{} of threads {} left out here; JSON has all",
            number(more, "more note"),
            plural::is(more)
        ));
    }
    lines
}

/// Groups the absent counts of a phase by their reason, and writes the reasons.
fn absences(report: &Report, phase: &str, members: &[Member<'_>], lines: &mut Vec<String>) {
    let unfinished: Vec<usize> = members
        .iter()
        .filter(|(_, row)| row.executions == 0 && row.open == 0 && row.implausible.is_none())
        .map(|(thread, _)| thread.number)
        .collect();
    if !unfinished.is_empty() {
        let threads = text::threads(&unfinished);
        lines.push(format!("{phase} on {threads}: no execution finished"));
    }
    for (reason, why) in [
        (
            Absent::NeverCounted,
            "never counted: the kernel kept the group off the counters all the time, as it does \
             while another user of the PMU holds them",
        ),
        (Absent::NotSampled, "not sampled yet: no run has counted their set"),
        (Absent::NotRecorded, "the report holds no such count"),
    ] {
        // Events that are absent on the same threads share a line.
        let mut events: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
        for (event, column) in report.events.iter().enumerate() {
            let which: Vec<usize> = members
                .iter()
                .filter(|(_, row)| count_of(row, event).err() == Some(reason))
                .map(|(thread, _)| thread.number)
                .collect();
            if !which.is_empty() {
                events.entry(which).or_default().push(text::clean(&column.name));
            }
        }
        for (which, names) in events {
            let (names, threads) = (names.join(", "), text::threads(&which));
            lines.push(format!("{phase} on {threads}: {names} {why}"));
        }
    }
}

/// How often something happened, and on which threads; `None` if it never did.
fn tally(members: &[Member<'_>], of: impl Fn(&Member<'_>) -> u64) -> Option<(String, String)> {
    let total: u128 = members.iter().map(|member| u128::from(of(member))).sum();
    let which: Vec<usize> =
        members.iter().filter(|member| of(member) > 0).map(|(thread, _)| thread.number).collect();
    (total > 0).then(|| (counted(total, "execution"), text::threads(&which)))
}

/// A number in groups of three digits, and its noun.
pub(super) fn counted(number: u128, one: &str) -> String {
    format!("{} {}", quantity::grouped(number), noun(number, one))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", text::clean(name))
}

/// Remarks on phases that are written; the others are only counted.
const PHASE_LINES: usize = 24;
/// Names of phases without executions that are written.
const NAMES: usize = 8;
/// Different notes of threads that are written.
const NOTES: usize = 24;
