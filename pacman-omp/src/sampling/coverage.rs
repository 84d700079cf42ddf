//! How often the interval of an estimate has the true value, on simulated regions.
//!
//! The executions pass the same code as in a program: the countdown, the sampler, the records, and the reader.

use std::sync::atomic::AtomicU64;

use pacman_regions::Recording;
use pacman_regions::arena::{
    CurrentBin, Kind as Record, Payload, ProcessStart, Writer, copied, prepare, read_words,
};

use super::{Countdowns, Sampler, Timed, Untimed};

/// A source of random numbers.
pub(super) struct Draws(u64);

impl Draws {
    fn part(&mut self) -> f64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as f64 / u64::MAX as f64
    }
}

/// Ticks of an execution, and the part of them that the second thread works.
type Execution = (u64, f64);

/// The ticks that timing adds to an execution, and those that it takes beside it.
const COST: (u64, u64) = (600, 400);
const BODY: u64 = 0x40_0000;

/// A run of a region with two threads, of which the first always works, at a budget of 1 %.
fn run(executions: &[Execution], seed: u64) -> Recording {
    let words: &'static [AtomicU64] =
        (0..64 * 512).map(|_| AtomicU64::new(0)).collect::<Vec<_>>().leak();
    prepare(words, 64, 1);
    let mut writer = Writer::new(words);
    let start = ProcessStart {
        numbers: (7, 1),
        began: 1,
        seconds_per_tick: 1e-9,
        adapted: false,
        waits: false,
    };
    let process = writer.begin(&start).expect("there is room");
    let region = Payload::new()
        .number(0)
        .number(0)
        .number(0x1200)
        .module(std::path::Path::new("/opt/app"), None);
    writer.append(Record::Region, &region.optional(None).bytes(b"GOMP_parallel"));
    let thread = writer.thread().expect("there is room");
    let rows = [0, 1].map(|number| writer.row(0, number).expect("there is room"));
    let stats = writer.primary_stats(0).expect("there is room");
    let (latest, countdowns) = (CurrentBin::none(), Countdowns::default());
    let mut sampler = Sampler::seeded(seed);
    let mut now = 0;
    for &(ticks, part) in executions {
        let place = countdowns.place(BODY);
        if let Some(place) = place.filter(|place| countdowns.is_untimed(*place, thread)) {
            thread.untimed()[place].add(ticks);
            if !countdowns.is_usual(place, ticks) {
                countdowns.note(place, ticks, thread);
            }
            now += ticks;
            continue;
        }
        let (weight, whole) = (sampler.weight(), ticks + COST.0);
        rows[0].add_weighted(ticks, weight, || None);
        rows[1].add_weighted((part * ticks as f64) as u64, weight, || None);
        // SAFETY: the record has one current bin.
        unsafe { stats.add_weighted(&latest, now, whole, 2, weight) };
        let own = place.map(|place| &thread.untimed()[place]);
        let untimed = own.map_or_else(Untimed::default, |own| Untimed {
            executions: own.executions(),
            ticks: own.ticks(),
            unlike: own.unlike(),
        });
        let timed = Timed { ticks: whole, beside: COST.1, untimed, since: now, threads: 2 };
        sampler.timed(&timed);
        let skips = sampler.choose(Some(0.01));
        countdowns.set(BODY, thread, 0, (skips, sampler.limit()));
        now += whole;
    }
    process.ends(false, now + 1);
    let words = copied(&[words]);
    read_words(&words).expect("an arena").remove(0)
}

/// Answers the execution of that number.
type Kind = fn(&mut Draws, usize) -> Execution;

/// The kinds of regions.
fn kinds() -> Vec<(&'static str, Kind)> {
    vec![
        ("even", |_, _| (3_000, 0.5)),
        ("noise", |draws, _| (2_000 + (4_000.0 * draws.part()) as u64, draws.part())),
        ("every second execution has one thread", |_, at| (3_000, (at % 2) as f64)),
        ("every 64th is long", |_, at| if at % 64 == 0 { (90_000, 0.1) } else { (3_000, 0.9) }),
        ("one of 4,000 has nearly all time", |draws, _| match draws.part() < 0.00025 {
            true => (20_000_000, 0.02),
            false => (2_500, 0.95),
        }),
        ("a burst at two thirds", |_, at| match (20_000..20_060).contains(&at) {
            true => (5_000_000, 0.2),
            false => (1_000, 0.9),
        }),
        ("growing", |_, at| (500 + at as u64, 1.0 - at as f64 / 30_000.0)),
        ("phases", |_, at| if at / 5_000 % 2 == 0 { (1_500, 0.95) } else { (40_000, 0.3) }),
        ("a Pareto distribution", |draws, _| {
            let ticks = 800.0 / (1.0 - draws.part()).max(1e-7).powf(1.0 / 1.2);
            (ticks as u64, if ticks > 20_000.0 { 0.1 } else { 0.9 })
        }),
        ("a third of the long ones is balanced", |draws, at| match at % 50 {
            0 => (30_000, if draws.part() < 0.33 { 1.0 } else { 0.0 }),
            _ => (2_000, 1.0),
        }),
    ]
}

/// The times are exact in every run, and the true share of the second thread is in the interval in 95 of 100.
#[test]
fn times_are_exact_and_intervals_hold() {
    const RUNS: u64 = 40;
    for (number, (name, execution)) in kinds().into_iter().enumerate() {
        let (mut held, mut known, mut widest) = (0, 0, 0.0f64);
        for run_number in 0..RUNS {
            let mut draws = Draws(1 + 1_000 * number as u64 + run_number);
            let all: Vec<Execution> = (0..30_000).map(|at| execution(&mut draws, at)).collect();
            let recording = run(&all, 77 * run_number + 5);
            let region = &recording.regions[0];
            let sampling = region.sampling.expect("short executions");
            let truth = all.iter().map(|one| one.0).sum::<u64>() + sampling.timed * COST.0;
            let exact = (region.seconds * 1e9).round() as u64;
            assert_eq!((region.executions, exact), (30_000, truth), "{name}");
            let outside: f64 = recording.timeline.rows[0].seconds.iter().sum();
            assert!((outside / region.seconds - 1.0).abs() < 1e-9, "{name}: {outside} s");
            let whole = all.iter().map(|one| one.0 as f64).sum::<f64>();
            let share = all.iter().map(|one| one.0 as f64 * one.1).sum::<f64>() / whole;
            let estimate = region.rows[1].seconds / region.seconds;
            held += u64::from((estimate - share).abs() <= sampling.margin);
            known += u64::from(sampling.is_known());
            widest = widest.max(sampling.margin);
        }
        eprintln!("{name}: {held} of {RUNS} hold, {known} are known, the widest is {widest:.3}");
        assert!(held * 100 >= 95 * RUNS, "{name}: {held} of {RUNS} intervals hold");
    }
}
