//! The arena of given recordings, for tests.

use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::AtomicU64;

use super::bins::FINEST;
use super::cell::{load, store};
use super::cells::{self, Process};
use super::format::{Kind, LINE, PAGE, WORDS, copied, prepare};
use super::log_block::{LogBlock, LogEntry};
use super::payload::Payload;
use super::reader::DEVIATION;
use super::set_row::SetRow;
use super::thread::COUNTDOWNS;
use super::wait_row::state;
use super::writer::ProcessStart;
use super::writer::Writer;
use crate::{
    Ending, ExecutionLog, Phase, PhaseStates, Recording, Region, Row, RuntimeFamily, Sampling,
    Scheduling, TimelineRow, WaitSite, Waits,
};

/// The unit of times in the image.
#[derive(Clone, Copy)]
struct Scale {
    seconds_per_tick: f64,
    /// The length of a bin of the timeline, as a power of two.
    shift: u64,
}

impl Scale {
    fn of(recording: &Recording) -> Scale {
        let bin = recording.timeline.bin;
        let mut scale = Scale { seconds_per_tick: if bin > 0.0 { bin } else { 1.0 }, shift: 0 };
        while scale.seconds_per_tick > 1e-9 || scale.shift < FINEST {
            scale.seconds_per_tick /= 2.0;
            scale.shift += 1;
        }
        scale
    }

    fn ticks(self, seconds: f64) -> u64 {
        (seconds / self.seconds_per_tick).round() as u64
    }
}

/// The bytes of an arena that [`read`](super::read) turns into these recordings, with times to some
/// nanoseconds. For tests and examples.
///
/// # Panics
/// If the arena exceeds 256 MiB.
pub fn image_of(recordings: &[Recording]) -> Vec<u8> {
    let records: usize = recordings.iter().map(words).sum();
    let words: Vec<AtomicU64> = (0..records + 8 * WORDS).map(|_| AtomicU64::new(0)).collect();
    assert!(words.len() * 8 <= PAGE << 16, "an image must not exceed 256 MiB");
    // A writer needs static memory, although no code uses these words after the call.
    let words: &'static [AtomicU64] = Box::leak(words.into_boxed_slice());
    prepare(words, words.len() / WORDS, 0);
    for recording in recordings {
        let mut writer = Writer::new(words);
        put(&mut writer, recording).expect("there is place for all");
    }
    copied(&[words]).iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An upper bound of the words for a recording.
fn words(recording: &Recording) -> usize {
    let row = 40 + 128 * recording.sets.len();
    let rows: usize = recording.regions.iter().map(|region| row * region.rows.len()).sum();
    let phases: usize = recording.phases.iter().map(|phase| 56 * (phase.threads.len() + 1)).sum();
    let text = format!("{recording:?}").len();
    let waits: usize =
        recording.regions.iter().flat_map(|region| &region.rows).map(row_words).sum();
    let outside = recording.waits.iter().flat_map(|waits| &waits.outside);
    let outside: usize = outside.map(|own| LINE * (own.waits.len() + 1)).sum();
    let entries = recording.logs.iter().map(|log| log.executions.len() + log.waits.len());
    let blocks: usize = entries.map(|entries| entries / 64 + 1).sum();
    let logs = blocks * LogBlock::length(recording.events.len());
    8 * WORDS
        + 2 * (logs + outside + phases + waits + rows + 4 * WORDS * recording.regions.len() + text)
}

fn row_words(row: &Row) -> usize {
    row.states.as_ref().map_or(0, |states| LINE * (states.waits.len() + states.counts.len() + 7))
}

fn put(writer: &mut Writer, recording: &Recording) -> Option<()> {
    let own = &recording.process;
    let scale = Scale::of(recording);
    let ticks = |seconds| scale.ticks(seconds);
    let process = writer.begin(&ProcessStart {
        numbers: (own.pid, own.parent),
        began: (own.began * 1e9) as u64,
        seconds_per_tick: scale.seconds_per_tick,
        adapted: recording.regions.iter().any(|region| region.adaptation.is_some()),
        waits: recording.waits.is_some(),
    })?;
    let host = own.host.as_deref().unwrap_or_default().as_bytes();
    writer.append(Kind::Host, &Payload::host(host, own.rank));
    if let Some(Scheduling { ran, delayed }) = recording.scheduling {
        process.scheduled((ran * 1e9).round() as u64, (delayed * 1e9).round() as u64);
    }
    let counted: Vec<usize> = (0..recording.events.len())
        .filter(|event| recording.events[*event].uncounted.is_none())
        .collect();
    let together = if recording.sets.is_empty() { counted.clone() } else { Vec::new() };
    let sets = if recording.sets.is_empty() { vec![counted] } else { recording.sets.clone() };
    let counted = together;
    if let Some(waits) = &recording.waits {
        put_waits(writer, process, recording, (waits, &counted), scale)?;
    }
    let mut line = Vec::new();
    for word in &own.command {
        line.extend(word.as_bytes());
        line.push(0);
    }
    writer.append(Kind::Command, &Payload::new().bytes(&line));
    for (number, runtime) in recording.runtimes.iter().enumerate() {
        let family = u64::from(runtime.family == RuntimeFamily::Libomp);
        let payload = Payload::new().number(number as u64).number(family);
        writer.append(Kind::Runtime, &payload.bytes(runtime.path.as_os_str().as_bytes()));
    }
    let overhead = recording.overhead.nanoseconds.map_or(0, |taken| ticks(taken * 1e-9));
    let first = Payload::new().number(recording.threads.into()).number(recording.contexts.into());
    writer.append(
        Kind::FirstRegion,
        &first
            .number(overhead)
            .bytes(recording.overhead.reads.as_bytes())
            .counts(&recording.overhead.counts),
    );
    if let Some(machine) = &recording.machine {
        writer.append(Kind::Machine, &Payload::machine(machine));
    }
    let events = Payload::events(&recording.events, &sets);
    writer.append(Kind::Events, &events);
    if let Some(energy) = &recording.energy {
        let payload = Payload::new().bytes(energy.source.as_bytes());
        let payload = payload.number(energy.packages.into());
        writer.append(Kind::EnergySource, &payload.number(nanojoules(energy.wraps_after)));
        let gap = ticks(energy.longest_gap);
        writer.energy(None)?.read_at(nanojoules(energy.joules), ticks(energy.seconds), gap);
    }
    for note in &recording.notes {
        writer.append(Kind::Note, &Payload::new().bytes(note.as_bytes()));
    }
    put_phases(writer, recording, &counted, scale)?;
    for (number, region) in recording.regions.iter().enumerate() {
        let bins = recording.timeline.rows.iter().find(|row| row.region == number);
        let is_kernel =
            |phase: &Phase| phase.kind.is_kernel() && region.label.as_ref() == Some(&phase.name);
        let label = recording.phases.iter().position(is_kernel);
        let numbers = (number as u32, recording.roots);
        put_region(writer, numbers, (region, bins, label), &counted, scale)?;
        put_sets(writer, number as u32, region, &recording.sets)?;
    }
    put_untimed(writer, &recording.regions, scale)?;

    put_logs(writer, &recording.logs, &counted, scale)?;
    if own.ending == Ending::ExitInRegion {
        writer.thread()?.set_open_regions(1);
    }
    match own.ending {
        Ending::Exit | Ending::ExitInRegion => process.ends(false, ticks(own.seconds)),
        Ending::Exec => process.ends(true, ticks(own.seconds)),
        Ending::Killed(_) | Ending::Unsaid | Ending::Running => {}
    }
    Some(())
}

fn put_waits(
    writer: &mut Writer,
    process: &Process,
    recording: &Recording,
    (waits, counted): (&Waits, &[usize]),
    scale: Scale,
) -> Option<()> {
    if waits.several_roots {
        process.has_several_roots();
    }
    for (number, WaitSite { site, cause, call }) in waits.sites.iter().enumerate() {
        let payload = Payload::new().number(number as u64 + u64::from(state::SITES));
        let payload = payload.number(*cause as u64).number(site.address);
        let payload = payload.module(&site.module, site.identity.as_ref());
        writer.append(Kind::WaitSite, &payload.optional(call.as_deref().map(str::as_bytes)));
    }
    for own in &waits.outside {
        if own.starts_regions {
            process.has_root(own.thread);
        }
        let cells = writer.wait_row(state::OUTSIDE, own.thread, state::DROPPED)?;
        cells.add(own.dropped, 0);
        for wait in &own.waits {
            let site = wait.site as u32 + state::SITES;
            let cells = writer.wait_row(state::OUTSIDE, own.thread, site)?;
            cells.add(wait.count, scale.ticks(wait.seconds));
        }
    }
    for (region, row) in recording
        .regions
        .iter()
        .enumerate()
        .flat_map(|(number, region)| region.rows.iter().map(move |row| (number as u32, row)))
    {
        let Some(states) = &row.states else { continue };
        let mut put = |site: u32, count: u64, seconds: f64| -> Option<()> {
            let cells = writer.wait_row(region, row.thread, site)?;
            store(&cells.count, count);
            store(&cells.ticks, scale.ticks(seconds));
            Some(())
        };
        put(state::STARTING, row.executions, states.starting)?;
        put(state::LATE_TASKS, 1, states.late_tasks)?;
        put(state::DROPPED, states.dropped, 0.0)?;
        put(state::UNSEEN_TASKS, states.unseen_tasks, 0.0)?;
        for wait in &states.waits {
            put(wait.site as u32 + state::SITES, wait.count, wait.seconds)?;
        }
        for (site, off) in
            [(state::USEFUL_TIME, states.useful_off), (state::WAITING_TIME, states.waiting_off)]
        {
            // A count of 0: the whole time was off the processor.
            off.map_or(Some(()), |off| put(site, 0, off))?;
        }
        if states.counted > 0 {
            put(state::COUNTED, states.counted, 0.0)?;
        }
        for (place, event) in counted.iter().enumerate() {
            let Some(count) = states.counts.get(*event).copied().flatten() else { continue };
            let cells = writer.wait_row(region, row.thread, state::COUNTS + place as u32)?;
            store(&cells.ticks, count);
        }
    }
    Some(())
}

fn nanojoules(joules: f64) -> u64 {
    (joules * 1e9).round() as u64
}

fn put_phases(
    writer: &mut Writer,
    recording: &Recording,
    counted: &[usize],
    scale: Scale,
) -> Option<()> {
    for (number, phase) in recording.phases.iter().enumerate() {
        let payload = Payload::new().number(number as u64).number(phase.kind as u64);
        writer.append(Kind::Phase, &payload.bytes(phase.name.as_bytes()));
        for thread in &phase.threads {
            let cells = writer.phase_row(number as u32, thread.row.thread)?;
            store(&cells.begun, thread.begun);
            if let Some(PhaseStates { waiting, useful_off, waiting_off }) = thread.states {
                store(&cells.waited, scale.ticks(waiting));
                // Nothing of that time was on a processor.
                match useful_off.zip(waiting_off) {
                    Some((useful, waiting)) => {
                        store(&cells.clocked, scale.ticks(useful + waiting));
                        store(&cells.waits_clocked, scale.ticks(waiting));
                    }
                    None => store(&cells.clock_lost, 1),
                }
            }
            put_row(&cells.row, &thread.row, counted, scale);
        }
    }
    Some(())
}

fn put_row(cells: &cells::Row, row: &Row, counted: &[usize], scale: Scale) {
    store(&cells.executions, row.executions);
    store(&cells.ticks, scale.ticks(row.seconds));
    store(&cells.cpu, row.cpu.map_or(0, |cpu| u64::from(cpu) + 1));
    store(&cells.moves, row.moves);
    store(&cells.counted, row.counted);
    for (cell, event) in cells.counts.iter().zip(counted) {
        store(cell, row.counts[*event].unwrap_or(0));
    }
}

/// The counts of a region's rows by set.
fn put_sets(writer: &mut Writer, number: u32, region: &Region, sets: &[Vec<usize>]) -> Option<()> {
    let in_all = |event: &usize| sets.iter().all(|set| set.contains(event));
    for row in &region.rows {
        for (set, events) in sets.iter().enumerate() {
            let cells = writer.set_row(number, row.thread, set as u32)?;
            // An event of this set alone knows its executions.
            let own = events.iter().find(|event| !in_all(event))?;
            store(&cells.counted, row.counted_by_event[*own]);
            for (cell, event) in cells.counts.iter().zip(events) {
                // The first set has the whole count of an event that is in all of them.
                let is_here = set == 0 || !in_all(event);
                let all = row.counts[*event].filter(|_| is_here).unwrap_or(0);
                store(cell, all * row.counted_by_event[*event] / row.executions.max(1));
            }
            put_turns(cells, events.len());
        }
    }
    Some(())
}

/// Writes turns of one execution each, which are all alike.
fn put_turns(cells: &SetRow, events: usize) {
    let turns = load(&cells.counted);
    for cell in [&cells.turns, &cells.measure] {
        store(cell, turns);
    }
    store(&cells.longest, turns.min(1));
    store(&cells.measure_squares, (turns as f64).to_bits());
    for event in 0..events {
        let sum = cells.sum(event) as f64;
        let each = sum / turns.max(1) as f64;
        store(&cells.squares[event], (sum * each).to_bits());
        store(&cells.products[event], sum.to_bits());
        store(&cells.rates[event], each.to_bits());
    }
}

/// The logs of threads; a log has executions before waits.
fn put_logs(
    writer: &mut Writer,
    logs: &[ExecutionLog],
    counted: &[usize],
    scale: Scale,
) -> Option<()> {
    for (number, log) in (0..).zip(logs) {
        let mut block = writer.log_block(number, counted.len())?;
        let mut push = |writer: &mut Writer, entry: &LogEntry<'_>| {
            while !block.push(entry) {
                block = writer.log_block(number, counted.len())?;
            }
            Some(())
        };
        for one in &log.executions {
            let counts: Option<Vec<u64>> =
                counted.iter().map(|event| one.counts.get(*event).copied().flatten()).collect();
            let counts = counts.filter(|_| !one.counts.is_empty());
            let times = [one.begin, one.seconds, one.own_work].map(|time| scale.ticks(time)).into();
            let key = (one.region as u32, one.thread);
            push(writer, &LogEntry::execution(key, times, one.weight, counts.as_deref()))?;
        }
        for wait in &log.waits {
            let times = (scale.ticks(wait.begin), scale.ticks(wait.seconds));
            let site = wait.site as u32 + state::SITES;
            push(writer, &LogEntry::wait(site, times, scale.ticks(wait.tasks)))?;
        }
    }
    Some(())
}

/// The executions that were only counted.
fn counted_only(region: &Region) -> u64 {
    let timed = region.sampling.as_ref().map_or(region.executions, |sampling| sampling.timed);
    region.executions.saturating_sub(timed)
}

fn put_untimed(writer: &mut Writer, regions: &[Region], scale: Scale) -> Option<()> {
    let numbers = 0..regions.len() as u32;
    let mut sampled =
        numbers.zip(regions).filter(|(_, region)| region.sampling.is_some()).peekable();
    while sampled.peek().is_some() {
        let thread = writer.thread()?;
        for (number, region) in sampled.by_ref().take(COUNTDOWNS) {
            let untimed = &thread.untimed[thread.place(number)?];
            store(&untimed.executions, counted_only(region));
            store(&untimed.ticks, scale.ticks(region.seconds) - timed_ticks(region, scale));
            store(&untimed.longest, scale.ticks(region.longest));
        }
    }
    Some(())
}

/// The ticks of the timed executions, which are as long as the others.
fn timed_ticks(region: &Region, scale: Scale) -> u64 {
    let all = scale.ticks(region.seconds);
    all - all * counted_only(region) / region.executions.max(1)
}

fn put_region(
    writer: &mut Writer,
    (number, roots): (u32, u32),
    (region, bins, label): (&Region, Option<&TimelineRow>, Option<usize>),
    counted: &[usize],
    scale: Scale,
) -> Option<()> {
    let ticks = |seconds| scale.ticks(seconds);
    let site = &region.site;
    let payload = Payload::new()
        .number(number.into())
        .number(region.runtime as u64)
        .number(site.address)
        .module(&site.module, site.identity.as_ref())
        .optional(site.source.as_deref().map(str::as_bytes))
        .bytes(region.entry.as_bytes())
        .number(label.map_or(0, |phase| phase as u64 + 1));
    writer.append(Kind::Region, &payload);
    for row in &region.rows {
        put_row(writer.row(number, row.thread)?, row, counted, scale);
    }
    let cells = writer.primary_stats(number)?;
    store(&cells.starter, u64::from(number % roots.max(1)));
    store(&cells.nested, region.nested);
    store(&cells.within, region.within);
    store(&cells.nested_ticks, ticks(region.seconds - region.outer));
    store(&cells.shortest, ticks(region.shortest));
    store(&cells.longest, ticks(region.longest));
    let mut untimed = counted_only(region);
    let mut untimed_ticks = ticks(region.seconds) - timed_ticks(region, scale);
    for (size, team) in cells.teams.iter().zip(&region.teams) {
        let represented = untimed.min(team.executions);
        let represented_ticks = untimed_ticks.min(ticks(team.seconds));
        untimed -= represented;
        untimed_ticks -= represented_ticks;
        store(&size.threads, team.threads.into());
        store(&size.executions, team.executions - represented);
        store(&size.represented, represented);
        store(&size.ticks, ticks(team.seconds) - represented_ticks);
        store(&size.represented_ticks, represented_ticks);
    }
    if let Some(Sampling { margin, cost, .. }) = region.sampling {
        let squares = (margin * ticks(region.seconds) as f64 / DEVIATION).powi(2);
        store(&cells.squares, squares.to_bits());
        store(&cells.cost, ticks(cost.unwrap_or(0.0)));
    }
    if let Some(row) = bins {
        let all = row.seconds.iter().zip(&row.thread_seconds);
        let all = all.map(|(one, all)| (ticks(*one), ticks(*all)));
        cells.bins.fill(scale.shift, all);
    }
    if let Some(energy) = &region.energy {
        let cells = writer.energy(Some(number))?;
        store(&cells.nanojoules, nanojoules(energy.joules));
        store(&cells.ticks, ticks(energy.seconds));
        store(&cells.executions, energy.executions);
        store(&cells.unread, energy.unread);
    }
    if let Some(adaptation) = &region.adaptation {
        let text = serde_json::to_vec(adaptation).ok()?;
        writer.replace(&mut None, number, &text);
    }
    Some(())
}
