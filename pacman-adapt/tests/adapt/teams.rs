//! Teams of a runtime: more threads than contexts, and CPU times.

use pacman_adapt::ErrorKind;
use pacman_adapt::predict::Configuration;
use pacman_adapt::{Candidates, Controller, Execution, Rules, State};

use super::{controller, machine, on, run};

fn team(text: &str, threads: usize) -> Controller {
    let candidates = Candidates::for_team(&machine(text), threads, None).expect("candidates");
    Controller::new(candidates, Rules::default())
}

fn names(text: &str, threads: usize, most: Option<usize>) -> Vec<String> {
    let candidates = Candidates::for_team(&machine(text), threads, most).expect("candidates");
    assert_eq!(candidates.default(), *candidates.all().last().expect("one at least"));
    candidates.all().iter().map(ToString::to_string).collect()
}

#[test]
fn a_team_may_have_more_threads_than_there_are_contexts() {
    assert_eq!(names("2 cores", 8, None), ["1x1", "2x1", "8"]);
    assert_eq!(names("2 cores", 8, Some(3)), ["1x1", "2x1", "3"]);
    assert_eq!(names("2 cores", 8, Some(2)), ["1x1", "2x1"]);
    assert_eq!(names("2 cores", 1, None), ["1x1"]);
    assert_eq!(names("2 cores, 2 threads", 5, None), ["1x1", "2x1", "1x2", "2x2", "5"]);
    for (threads, most) in [(0, None), (4, Some(0)), (1 << 17, None)] {
        let error = Candidates::for_team(&machine("2 cores"), threads, most).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

/// Each thread beyond the contexts costs a switch and a wait at the barrier.
fn crowded(on: Configuration) -> f64 {
    let threads = f64::from(on.threads());
    1.0 / threads.min(2.0) + 0.05 * threads
}

#[test]
fn threads_beyond_the_contexts_go_within_very_few_executions() {
    let mut phase = team("2 cores", 8);
    let places = run(&mut phase, 100, crowded);
    // That gain pays for a sample of one thread, too.
    assert_eq!(places[2..4], ["2x1", "1x1"].map(on), "{}", phase.why());
    assert_eq!((phase.next(), phase.state()), (on("2x1"), State::Holding));
    let reduced = places.iter().filter(|place| place.threads() < 8).count();
    assert_eq!(phase.reduced_executions(), reduced as u64);
    let took: f64 = places.iter().copied().map(crowded).sum();
    let lost = took - 100.0 * crowded(on("8"));
    assert!((phase.account().lost() - lost).abs() < 1e-9);
    assert!((phase.account().baseline() - 100.0 * crowded(on("8"))).abs() < 1e-9);
}

/// One thread is the best, and two of four seem worse than all: a valley that a search down one step at a
/// time would not come to.
#[test]
fn two_threads_that_take_turns_hide_no_third_that_does_better() {
    let seconds =
        |two: f64| move |on: Configuration| [0.4, two, 1.0, 1.0][on.threads() as usize - 1];
    let mut phase = team("2 cores", 4);
    run(&mut phase, 400, seconds(1.15));
    assert_eq!((phase.next(), phase.state()), (on("1x1"), State::Holding), "{}", phase.why());
    // A clearly worse configuration is a wall.
    let mut phase = team("2 cores", 4);
    let places = run(&mut phase, 400, seconds(1.6));
    assert!(!places.contains(&on("1x1")), "{}", phase.why());
}

#[test]
fn a_team_that_needs_its_threads_keeps_them() {
    // Its threads take turns without loss, and fewer are no better.
    let mut phase = team("2 cores", 8);
    let places = run(&mut phase, 200, |on| 1.0 / f64::from(on.threads().min(2)));
    assert_eq!(phase.next(), on("8"), "{}", phase.why());
    assert!(places.iter().filter(|&&place| place == on("1x1")).count() <= 1);
}

/// Passes the busy time of two threads, of which one mostly waits.
fn imbalanced(phase: &mut Controller, executions: usize, alone: f64, busy: f64) -> Option<usize> {
    (0..executions).find(|_| {
        let on = phase.next();
        let narrow = on.threads() == 1;
        let (seconds, busy) = if narrow { (alone, alone) } else { (1.0, busy) };
        let execution = Execution::seconds(seconds).with_busy(busy);
        phase.finished_with(on, seconds, &execution).expect("a valid execution");
        narrow
    })
}

#[test]
fn a_mostly_serial_phase_is_narrowed_early_where_its_cpu_time_is_known() {
    // One thread may take 1.08 of it, by 5 % more than the busy time: three executions
    // at most pay for it, where half of the machine takes twenty.
    let first = imbalanced(&mut team("2 cores", 2), 200, 0.9, 1.03);
    assert!(first.is_some_and(|first| first <= 3), "{first:?}");
    let busy = imbalanced(&mut team("2 cores", 2), 200, 0.9, 2.0);
    assert!(busy.is_some_and(|busy| (20..=22).contains(&busy)), "{busy:?}");
    // All waited for something else at times: one thread may wait for longer.
    let waiting = imbalanced(&mut team("2 cores", 2), 200, 0.9, 0.2);
    assert!(waiting.is_some_and(|waiting| (20..=22).contains(&waiting)), "{waiting:?}");
}

/// If threads wait for each other, fewer are tried at once. If they work, fewer are tried when the budget
/// allows it. If they have ceased to wait, fewer are tried once.
#[test]
fn useful_time_says_when_fewer_threads_are_tried() {
    let reduced_in = |executions: u32, waits: &dyn Fn(u32) -> bool| {
        let mut phase = controller("2 cores", Rules::default());
        let mut reduced = Vec::new();
        for number in 1..=executions {
            let on = phase.next();
            let is_reduced = on.threads() < 2;
            // Two threads at work do in a second what takes one two; two that wait do it one by one.
            let useful = if waits(number) { 0.6 } else { 2.0 };
            let seconds = if is_reduced { useful } else { 1.0 };
            let execution = Execution::seconds(seconds).with_busy(2.0).with_useful(useful);
            phase.finished_with(on, seconds, &execution).expect("a valid execution");
            reduced.extend(is_reduced.then_some(number));
        }
        reduced
    };
    let waiting = reduced_in(30, &|_| true);
    assert!(waiting[0] <= 3 && waiting.len() >= 25, "{waiting:?}");
    let working = reduced_in(30, &|_| false);
    assert!(working.iter().all(|&number| number > 20), "{working:?}");
    let ceasing = reduced_in(150, &|number| number <= 2);
    assert!((1..=3).contains(&ceasing.len()) && ceasing[0] == 3, "{ceasing:?}");
}
