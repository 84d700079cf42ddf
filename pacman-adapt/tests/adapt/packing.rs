//! Samples on fewer contexts never lose more than their budget, whatever the program does.

use pacman_adapt::packing::{Ended, LossBudget, Next, Packing};

/// Numbers that look random.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }
}

const PART: f64 = 0.01;
const FREE: u64 = 2_000_000;
/// The longest time in which the watchers restore the masks: a busy machine wakes them late.
const LATENCY: u64 = 20_000_000;
/// The longest time in which the library gives masks back: of many threads, on a busy machine.
const GIVING: u64 = 3_000_000;
const FOREVER: u64 = u64::MAX >> 8;

/// A region of a simulated program: its times with all contexts and with the candidates.
struct Region {
    full: u64,
    packed: Vec<u64>,
    /// The executions after which it changes; 0 if it never does.
    changes: u64,
    controller: Packing,
}

impl Region {
    fn drawn(draw: &mut Draw) -> Region {
        let candidates = 1 + draw.below(4) as usize;
        let controller = Packing::new(candidates, 1 + draw.below(16) as u32);
        let mut region = Region { full: 0, packed: vec![0; candidates], changes: 0, controller };
        region.changes = draw.below(3) * draw.below(200);
        region.draw_times(draw);
        region
    }

    fn draw_times(&mut self, draw: &mut Draw) {
        self.full = 1 << draw.below(26);
        self.full += draw.below(self.full);
        for packed in &mut self.packed {
            *packed = match draw.below(4) {
                // A barrier of its own, which never ends while the threads share a context.
                0 => FOREVER,
                1 => self.full * (1 + draw.below(100)),
                2 => self.full / (1 + draw.below(20)),
                _ => self.full,
            };
        }
    }
}

/// The loss of a run in samples and in held executions, how long it took, and what was held.
#[derive(Default)]
struct Lost {
    samples: u64,
    cuts: u64,
    held: i64,
    run: u64,
    alone: u64,
}

/// How the watchers wake.
#[derive(Clone, Copy, PartialEq)]
enum Watchers {
    /// At most as late as when they were asked.
    Steady,
    /// Up to [`LATENCY`] late, whatever they were before.
    Unsteady,
}

fn run(seed: u64, adversarial: bool, watchers: Watchers) -> Lost {
    let mut draw = Draw(seed);
    let mut budget = LossBudget::new(PART);
    let count = 1 + draw.below(3);
    let mut regions: Vec<Region> = (0..count).map(|_| Region::drawn(&mut draw)).collect();
    let mut lost = Lost::default();
    let mut latest = usize::MAX;
    let most = 1 << draw.below(24);
    let late = draw.below(most);
    for round in 1..=400 {
        let at = draw.below(count) as usize;
        let region = &mut regions[at];
        if adversarial && region.changes > 0 && round % region.changes == 0 {
            region.draw_times(&mut draw);
        }
        // The program knows what the library does, and is slow when it samples.
        let armed = (draw.below(3) > 0).then_some(late);
        let next = region.controller.next(&mut budget, lost.run, armed);
        let most_late = if watchers == Watchers::Steady { late } else { LATENCY };
        let (time, cut_after) = match next {
            Next::Full | Next::Ask => (region.full, None),
            Next::Sample(on, most) | Next::Held(on, most) => match region.packed[on] {
                time if time <= most => (time, None),
                // No progress until it was cut.
                _ => {
                    let lost = most + draw.below(most_late);
                    (lost + region.full, Some(lost))
                }
            },
        };
        match next {
            Next::Sample(..) => {
                lost.samples += time.saturating_sub(region.full);
                lost.cuts += u64::from(cut_after.is_some());
            }
            Next::Held(..) => lost.held += time as i64 - region.full as i64,
            _ => {}
        }
        lost.run += time;
        lost.alone += region.full;
        let is_odd = adversarial && draw.below(20) == 0;
        let ended = Ended { time, cut_after, is_odd, is_changed: latest != at };
        let goes_on = region.controller.ended(next, ended, &mut budget);
        let keeps = goes_on || region.controller.held_at().is_some() || cut_after.is_some();
        if matches!(next, Next::Sample(..)) && !keeps {
            let time = draw.below(GIVING);
            Packing::given_back(time, &mut budget);
            (lost.samples, lost.run) = (lost.samples + time, lost.run + time);
        }
        latest = at;
        let limit = FREE + (lost.run as f64 * PART) as u64;
        // The latest change may take longer than was paid for. No sample follows before the budget has it.
        let bound = limit + GIVING + if watchers == Watchers::Steady { 0 } else { LATENCY };
        assert!(lost.samples <= bound, "seed {seed}: {} of {bound} after {round}", lost.samples);
    }
    lost
}

#[test]
fn samples_stay_within_their_budget_in_every_program() {
    for watchers in [Watchers::Steady, Watchers::Unsteady] {
        let cuts: u64 = (0..10_000).map(|seed| run(seed, true, watchers).cuts).sum();
        assert!(cuts > 1000, "only {cuts} samples were cut");
    }
}

#[test]
fn a_program_that_does_not_change_loses_no_more_than_its_samples() {
    let mut gained = 0;
    for seed in 0..10_000 {
        let lost = run(seed, false, Watchers::Unsteady);
        let bound = (FREE + LATENCY + GIVING) as i64 + (lost.run as f64 * PART) as i64;
        let all = lost.run as i64 - lost.alone as i64;
        assert!(all <= bound, "seed {seed}: {all} of {bound}");
        assert!(lost.held <= 0, "seed {seed}: held at a worse configuration: {}", lost.held);
        gained += i64::from(lost.held < 0);
    }
    assert!(gained > 500, "only {gained} programs gained");
}

/// The budget of the first milliseconds pays for one execution, and a sample has two or more.
#[test]
fn a_sample_ends_before_an_execution_that_it_cannot_pay() {
    for full in [30_000, 100_000, 300_000, 900_000, 1_800_000, 4_000_000, 16_000_000] {
        // The second one is no better, so its samples are cut. It is tried again when the region has run for long.
        for (percent, held, most) in [(70, true, 0), (25, true, 0), (95, false, 4)] {
            let packed = full * percent / 100;
            let (mut budget, mut region, mut run) = (LossBudget::new(PART), Packing::new(1, 4), 0);
            while run < 1_000_000_000 + 2_000 * full {
                let next = region.next(&mut budget, run, Some(0));
                let (time, cut_after) = match next {
                    Next::Full | Next::Ask => (full, None),
                    Next::Sample(_, most) | Next::Held(_, most) if packed <= most => (packed, None),
                    Next::Sample(_, most) | Next::Held(_, most) => (most + full, Some(most)),
                };
                run += time;
                let is_changed = !matches!(next, Next::Full);
                let ended = Ended { time, cut_after, is_odd: false, is_changed };
                region.ended(next, ended, &mut budget);
            }
            let (found, cut) = (region.held_at().is_some(), region.figures().cut);
            assert!(found == held && cut <= most, "{percent} % of {full}: {found}, {cut} cuts");
        }
    }
}
