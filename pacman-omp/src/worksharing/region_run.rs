//! One execution of a region, as its thread 0 sees it.

use std::ops::DerefMut;

use super::barrier_interval::{BarrierIntervals, Ran, Setup};
use super::partition::Division;
use super::schedule::Indivisible;

/// The state from barrier to barrier: the open interval, its begin and its width.
///
/// The width of an epoch is decided before the barrier that begins it, when its interval is not known
/// yet. The decision expects the interval that came next last time. A wrong expectation runs an interval
/// with the width of another, which costs time and nothing else.
pub(super) struct RegionRun<'r, S> {
    intervals: S,
    setup: &'r Setup,
    /// The reason against all adaptation in this execution.
    refused: Option<&'static str>,
    threads: u16,
    epoch: u32,
    /// The open interval, once its first loop has begun, and the one before.
    current: Option<usize>,
    before: Option<usize>,
    now: u16,
    next: u16,
    begun: u64,
    asks: bool,
}

/// The width of any team that leaves all to libomp.
pub(super) const ALL: u16 = u16::MAX;

impl<'r, S: DerefMut<Target = BarrierIntervals>> RegionRun<'r, S> {
    pub(super) fn new(mut intervals: S, setup: &'r Setup, refused: Option<&'static str>) -> Self {
        intervals.begin();
        RegionRun {
            intervals,
            setup,
            refused,
            threads: 0,
            epoch: 0,
            current: None,
            before: None,
            now: ALL,
            next: ALL,
            begun: 0,
            asks: false,
        }
    }

    /// Thread 0 of a team of `threads` begins.
    pub(super) fn begin(&mut self, threads: u16, ticks: u64) {
        self.threads = threads;
        self.begun = ticks;
    }

    /// A loop begins; its call returns to `site`.
    #[inline]
    pub(super) fn met(
        &mut self,
        site: u64,
        division: Result<Division, Indivisible>,
        source: impl FnOnce() -> Option<String>,
    ) {
        let at = match self.current {
            Some(at) => at,
            None => self.intervals.at(site, self.before, source),
        };
        self.current = Some(at);
        self.intervals.has(at, division);
    }

    /// Decides the width after the barrier that the thread is about to enter. `asks` if the region asked
    /// for its thread's number.
    #[inline]
    pub(super) fn decide(&mut self, asks: bool) -> u16 {
        self.asks = asks;
        self.epoch = self.epoch.wrapping_add(1);
        let forced = &self.setup.forced;
        self.next = if self.refused.is_some() {
            ALL
        } else if !forced.is_empty() {
            forced[self.epoch as usize % forced.len()]
        } else if asks {
            ALL
        } else {
            let expected = self.intervals.after(self.current.or(self.before));
            expected.and_then(|at| self.intervals.width(at)).unwrap_or(ALL)
        };
        self.next
    }

    /// The thread has passed the barrier.
    #[inline]
    pub(super) fn passed(&mut self, ticks: u64) {
        self.end_interval(ticks);
        self.now = self.next;
    }

    /// Ends the open interval, if there is one.
    #[inline]
    pub(super) fn end_interval(&mut self, ticks: u64) {
        if let Some(at) = self.current.take() {
            let seconds = ticks.saturating_sub(self.begun) as f64 * self.setup.seconds_per_tick;
            let ran = Ran {
                setup: self.setup,
                width: self.now,
                threads: self.threads,
                refused: self.refused,
                asks: self.asks,
            };
            self.intervals.ran(at, seconds, &ran);
            self.before = Some(at);
        }
        self.begun = ticks;
    }
}

#[cfg(test)]
mod tests {
    use super::super::barrier_interval::ASKS;
    use super::*;
    use pacman_adapt::Rules;
    use pacman_core::Topology;
    use std::cell::RefCell;

    fn setup(forced: &[u16]) -> Setup {
        let topology = Topology::synthetic("4 cores").unwrap();
        let rules = Rules::default();
        Setup { seconds_per_tick: 1e-9, rules, topology, forced: forced.to_vec() }
    }

    /// One execution of intervals in order. `ticks` gives the time of each by its width. Answers the widths.
    fn run(
        intervals: &RefCell<BarrierIntervals>,
        setup: &Setup,
        threads: u16,
        order: &[u64],
        asks: bool,
        division: Result<Division, Indivisible>,
        ticks: impl Fn(u64, u16) -> u64,
    ) -> Vec<u16> {
        let mut run = RegionRun::new(intervals.borrow_mut(), setup, None);
        let (mut now, mut width) = (1_000, ALL);
        run.begin(threads, now);
        let mut used = Vec::new();
        for &site in order {
            run.met(site, division, || None);
            run.met(site + 1, division, || None);
            used.push(width.min(threads));
            now += ticks(site, width.min(threads));
            width = run.decide(asks);
            run.passed(now);
        }
        used
    }

    /// The time of an interval that is fastest on `best` threads.
    fn valley(best: u16) -> impl Fn(u16) -> u64 {
        move |width| 1_000_000 + 300_000 * u64::from(width.abs_diff(best))
    }

    #[test]
    fn each_interval_gets_its_own_width() {
        let (intervals, setup) = (RefCell::default(), setup(&[]));
        let order: Vec<u64> = [100, 200, 300].into_iter().cycle().take(900).collect();
        let used =
            run(&intervals, &setup, 4, &order, false, Ok(Division::Balanced), |site, width| {
                match site {
                    100 => valley(1)(width),
                    200 => valley(4)(width),
                    _ => valley(2)(width),
                }
            });
        assert!(
            used[..24].iter().all(|&width| width == 4),
            "no width is tried before intervals repeat"
        );
        let late = &used[600..];
        let share = |from: usize, width| {
            let its = late.iter().skip(from).step_by(3);
            its.clone().filter(|&&used| used == width).count() as f64 / its.count() as f64
        };
        assert!(share(0, 1) > 0.9 && share(1, 4) > 0.9 && share(2, 2) > 0.9, "{late:?}");
        let intervals = intervals.borrow();
        assert!(intervals.adapts());

        let recorded = intervals.recorded(|site| format!("app+{site}"));
        let told: Vec<_> = recorded.iter().map(|one| (&one.source[..], one.executions)).collect();
        assert_eq!(told, [("app+100", 300), ("app+200", 300), ("app+300", 300)]);
    }

    #[test]
    fn a_wrong_expectation_is_corrected() {
        let (intervals, setup) = (RefCell::default(), setup(&[]));
        let body = |site: u64, width| if site == 100 { valley(1)(width) } else { valley(4)(width) };
        let mut order: Vec<u64> = [100, 200].into_iter().cycle().take(400).collect();
        run(&intervals, &setup, 4, &order, false, Ok(Division::Balanced), body);
        // From here on the second comes twice, then a new one.
        order = [100, 200, 200].into_iter().cycle().take(600).collect();
        order.extend([100, 500, 100, 500]);
        let used = run(&intervals, &setup, 4, &order, false, Ok(Division::Balanced), body);
        assert_eq!(used.len(), order.len());
        let recorded = intervals.borrow().recorded(|site| site.to_string());
        assert_eq!(recorded.len(), 3);
        assert_eq!(recorded[2].executions, 2);
        assert_eq!(recorded.iter().find(|one| one.source == "100").unwrap().threads, 1);
    }

    #[test]
    fn regions_without_a_time_loop_inside_are_left_alone() {
        let (intervals, setup) = (RefCell::default(), setup(&[]));
        for _ in 0..100 {
            let order = [100, 200, 100, 300];
            let used = run(&intervals, &setup, 4, &order, false, Ok(Division::Balanced), |_, w| {
                valley(1)(w)
            });
            assert_eq!(used, [4; 4]);
        }
        assert!(!intervals.borrow().adapts());
        assert_eq!(intervals.borrow().recorded(|_| String::new()), []);
    }

    #[test]
    fn regions_that_ask_for_numbers_keep_their_threads() {
        let (intervals, setup) = (RefCell::default(), setup(&[]));
        let plain = Ok(Division::Balanced);
        let used = run(&intervals, &setup, 4, &[100; 300], true, plain, |_, w| valley(1)(w));
        assert!(used.iter().all(|&width| width == 4), "{used:?}");
        assert_eq!(intervals.borrow().recorded(|_| String::new())[0].why, ASKS);
        // A late question keeps the threads from then on.
        let intervals = RefCell::default();
        let used = run(&intervals, &setup, 4, &[100; 300], false, plain, |_, w| valley(1)(w));
        assert!(used[100..].contains(&1));
        let used = run(&intervals, &setup, 4, &[100; 30], true, plain, |_, w| valley(1)(w));
        assert_eq!(used, [4; 30]);
        assert_eq!(intervals.borrow().recorded(|_| String::new())[0].why, ASKS);
    }

    #[test]
    fn the_reason_of_an_indivisible_loop_is_recorded() {
        let (intervals, setup) = (RefCell::default(), setup(&[]));
        run(&intervals, &setup, 4, &[7; 30], false, Err(Indivisible::Sections), |_, w| {
            valley(1)(w)
        });
        let recorded = intervals.borrow().recorded(|_| "app+7".to_owned());
        assert_eq!(recorded[0].why, Indivisible::Sections.why());
        assert_eq!((recorded[0].executions, recorded[0].threads), (30, 4));
    }

    #[test]
    fn forced_widths_cycle_from_the_first_barrier_on() {
        let (intervals, setup) = (RefCell::default(), setup(&[1, 2, 3]));
        let used = run(&intervals, &setup, 4, &[7; 7], true, Ok(Division::Chunked(1)), |_, _| 10);
        assert_eq!(used, [4, 2, 3, 1, 2, 3, 1]);
    }

    #[test]
    fn short_intervals_are_left_alone() {
        let intervals = RefCell::default();
        let mut setup = setup(&[]);
        setup.rules.break_even = 20e-6;
        let used =
            run(&intervals, &setup, 4, &[7; 200], false, Ok(Division::Balanced), |_, width| {
                1_000 * u64::from(width)
            });
        assert!(used.iter().all(|&width| width == 4));
        assert!(!intervals.borrow().adapts());
    }
}
