//! How often the interval of a scaled count has the true count, on simulated regions.
//!
//! The executions pass the same code as in a program: the order of the sets, the rows, and the reader.

use std::sync::atomic::{AtomicU64, Ordering};

use pacman_regions::arena::{
    CurrentBin, Kind as Record, Payload, ProcessStart, SetRow, SetTurn, Writer, copied, prepare,
    read_words,
};
use pacman_regions::{Event, Recording};

use super::SetOrder;

/// A source of random numbers: SplitMix64.
struct Draws(u64);

impl Draws {
    fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as f64 / u64::MAX as f64
    }
}

/// Ticks of an execution, and the counts in a tick.
type Execution = (u64, f64);

const CHANGE: u64 = 4_000;

fn count((ticks, rate): Execution) -> u64 {
    (ticks as f64 * rate) as u64
}

/// A run of region `seed` on one thread with two sets of one event each. Both events count the same. Answers the greatest
/// rate of each set's turns as well.
fn run(executions: &[Execution], seed: u32) -> (Recording, [f64; 2]) {
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
    let events = ["LOADS", "STORES"].map(Event::unknown);
    writer.append(Record::Events, &Payload::events(&events, &[vec![0], vec![1]]));
    let region = Payload::new()
        .number(0)
        .number(0)
        .number(0x1200)
        .module(std::path::Path::new("/opt/app"), None);
    writer.append(Record::Region, &region.optional(None).bytes(b"GOMP_parallel"));
    let row = writer.row(0, 0).expect("there is room");
    let sets: [&SetRow; 2] = [0, 1].map(|set| writer.set_row(0, 0, set).expect("there is room"));
    let stats = writer.primary_stats(0).expect("there is room");
    let (latest, mut now) = (CurrentBin::none(), 0);
    let mut order = SetOrder::new(seed, 2);
    let mut greatest: [Greatest; 2] = Default::default();
    let (mut set, mut turn): (usize, Option<SetTurn>) = (0, None);
    for &(ticks, rate) in executions {
        if let Some(next) = order.next(CHANGE) {
            set = next;
            turn = Some(sets[set].begin_turn());
            greatest[set].begin_turn();
        }
        let sum = &mut greatest[set].turn;
        *sum = (sum.0 + count((ticks, rate)), sum.1 + ticks);
        sets[set].count(|sums| {
            sums[0].fetch_add(count((ticks, rate)), Ordering::Relaxed);
            true
        });
        sets[set].measure(turn.as_ref().expect("the first execution has a turn"), ticks, 1);
        row.add_weighted(ticks, 1, || None);
        // SAFETY: the record has one current bin.
        unsafe { stats.add_weighted(&latest, now, ticks, 1, 1) };
        now += ticks;
        order.ended(ticks);
    }
    process.ends(false, now + 1);
    let words = copied(&[words]);
    let recording = read_words(&words).expect("an arena").remove(0);
    (recording, greatest.map(|set| set.rate()))
}

/// Answers the execution of that number.
type Kind = fn(&mut Draws, usize) -> Execution;

/// The greatest rate of a set's turns, which an interval supposes of all other turns, too.
#[derive(Default)]
struct Greatest {
    /// Of the turns that ended.
    rate: f64,
    /// The count and the ticks of the present turn.
    turn: (u64, u64),
}

impl Greatest {
    fn begin_turn(&mut self) {
        self.rate = self.rate();
        self.turn = (0, 0);
    }

    fn rate(&self) -> f64 {
        self.rate.max(self.turn.0 as f64 / self.turn.1.max(1) as f64)
    }
}

/// The kinds of regions, and whether many executions must give estimates.
fn kinds() -> Vec<(&'static str, bool, Kind)> {
    vec![
        ("even", true, |_, _| (300_000, 0.5)),
        ("short", true, |_, _| (3_000, 0.5)),
        ("noise", true, |draws, _| (2_000 + (90_000.0 * draws.part()) as u64, draws.part())),
        ("every second execution counts nothing", true, |_, at| (300_000, (at % 2) as f64)),
        (
            "every 64th is long",
            true,
            |_, at| {
                if at % 64 == 0 { (900_000, 0.1) } else { (30_000, 0.9) }
            },
        ),
        ("one of 4,000 has nearly all time", false, |draws, _| match draws.part() < 0.00025 {
            true => (2_000_000_000, 0.02),
            false => (25_000, 0.95),
        }),
        ("a burst at two thirds", false, |_, at| match (4_000..4_060).contains(&at) {
            true => (50_000_000, 0.2),
            false => (10_000, 0.9),
        }),
        ("growing", true, |_, at| (500 + 100 * at as u64, 1.0 - at as f64 / 30_000.0)),
        ("phases", true, |_, at| if at / 500 % 2 == 0 { (15_000, 0.95) } else { (400_000, 0.3) }),
        ("a Pareto distribution of times", false, |draws, _| {
            let ticks = 8_000.0 / (1.0 - draws.part()).max(1e-7).powf(1.0 / 1.2);
            (ticks as u64, if ticks > 200_000.0 { 0.1 } else { 0.9 })
        }),
        ("a Pareto distribution of rates", false, |draws, _| {
            (300_000, 0.01 / (1.0 - draws.part()).max(1e-7).powf(1.0 / 1.2))
        }),
        ("misses in one of 50", false, |draws, _| {
            (300_000, if draws.part() < 0.02 { 0.5 } else { 0.0001 })
        }),
    ]
}

/// Of 100 intervals that are shown 95 hold, as long as no turn of the other set has a greater rate than all of the own. Of
/// the regions whose turns are not too different, many executions are shown always.
#[test]
fn intervals_of_scaled_counts_hold() {
    const RUNS: u32 = 100;
    for (number, (name, is_estimable, execution)) in kinds().into_iter().enumerate() {
        for executions in [3, 24, 200, 6_000] {
            let (mut held, mut known, mut greater, mut widest) = (0, 0, 0, 0.0f64);
            for run_number in 0..RUNS {
                let mut draws = Draws(u64::from(1 + 1_000 * number as u32 + run_number));
                let all: Vec<Execution> =
                    (0..executions).map(|at| execution(&mut draws, at)).collect();
                let truth: u64 = all.iter().map(|one| count(*one)).sum();
                let (recording, greatest) = run(&all, 77 * run_number + 5);
                let row = &recording.regions[0].rows[0];
                for (set, (value, margin)) in row.counts.iter().zip(&row.margins).enumerate() {
                    let Some(value) = *value else { continue };
                    if greatest[1 - set] > greatest[set] * 1.001 {
                        greater += 1;
                        continue;
                    }
                    known += 1;
                    held += u32::from(value.abs_diff(truth) as f64 <= margin + 1.0);
                    widest = widest.max(margin / value as f64);
                }
            }
            eprintln!(
                "{name}, {executions}: {held} of {known} hold, the widest is {widest:.3}; \
                 {greater} beside greater rates"
            );
            assert!((known - held) * 20 <= known, "{name}, {executions}: {held} of {known} hold");
            let is_many = executions == 6_000 && is_estimable;
            assert!(!is_many || known + greater == 2 * RUNS, "{name}: {known} estimates are shown");
        }
    }
}
