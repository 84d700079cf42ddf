//! Tests of whole tables.

use super::{assert_snapshot, specimen};
use crate::export::{TableStyle, table};
use crate::report::EventSetRotation;
use crate::report::{PlaceReport, Report, ThreadState};
use pacman_topology::CoreType;

fn drawn(report: &Report, style: TableStyle) -> String {
    let mut text = Vec::new();
    table(report, &style, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn unicode(width: usize) -> TableStyle {
    TableStyle { width, unicode: true, ..TableStyle::default() }
}

#[test]
fn siblings_stand_together_and_cores_and_phases_have_sums() {
    assert_snapshot("server.txt", &drawn(&specimen::server(), unicode(132)));
}

#[test]
fn what_is_too_wide_goes_below() {
    let text = drawn(&specimen::server(), TableStyle { width: 72, ..TableStyle::default() });
    assert!(text.is_ascii());
    assert!(text.lines().all(|line| line.len() <= 72), "{text}");
    assert_snapshot("server-72.txt", &text);
}

#[test]
fn no_width_loses_a_figure() {
    let report = specimen::server();
    for width in 1..200 {
        let text = drawn(&report, TableStyle { width, ..TableStyle::default() });
        for figure in ["2.531 G", "1.772 G", "35.43 M", "843.7 ms", "3.311 s", "67.7 %"] {
            assert!(text.contains(figure), "{figure} at width {width}:\n{text}");
        }
    }
}

#[test]
fn colours_only_dress_the_plain_text() {
    let report = specimen::server();
    let style = TableStyle { colour: true, top: Some(1), ..unicode(132) };
    let coloured = drawn(&report, style);
    assert_snapshot("server-colour.txt", &coloured);
    let plain = drawn(&report, TableStyle { colour: false, ..style });
    let mut stripped = String::new();
    for (number, part) in coloured.split('\x1b').enumerate() {
        stripped.push_str(if number == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(stripped, plain);
    assert!(!plain.contains('\x1b'));
}

#[test]
fn many_threads_fold_into_three_rows() {
    let report = specimen::many();
    assert_snapshot("many.txt", &drawn(&report, unicode(100)));
    let unfolded = drawn(&report, TableStyle { fold: 1024, ..unicode(200) });
    assert_eq!(unfolded.matches(" worker-").count(), 1024 + 3);
    assert!(unfolded.contains("core 255"), "and each core has its sum");
}

#[test]
fn many_phases_come_in_order_of_time_and_the_rest_is_counted() {
    let names: Vec<String> = (0..3000).map(|phase| format!("phase-{phase:04}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut report = specimen::report("deep", vec![specimen::event("CYCLES", "cycles")], &names);
    let mut thread = specimen::thread(0, Some(specimen::place(0, 0, 0, 0)));
    thread.phases =
        (0..3000).map(|phase| specimen::row(phase, 1, phase as u64 * 100, &[1])).collect();
    report.threads.push(thread);
    let text = drawn(&report, TableStyle { top: Some(2), ..TableStyle::default() });
    assert_snapshot("deep.txt", &text);
    let all = drawn(&report, TableStyle::default());
    assert!(all.find("-- phase-2999 -").unwrap() < all.find("-- phase-0007 -").unwrap());
    assert!(!all.contains("left out"));
}

#[test]
fn estimates_are_marked_and_say_from_how_much() {
    assert_snapshot("scaled.txt", &drawn(&specimen::scaled(), unicode(100)));
}

#[test]
fn what_is_absent_or_went_amiss_is_explained() {
    let report = specimen::troubled();
    assert_snapshot("troubled.txt", &drawn(&report, unicode(100)));
    let plain = drawn(&report, TableStyle::default());
    assert!(!plain.contains('\x1b'), "a name must not drive the terminal");
    assert_snapshot("troubled-ascii.txt", &plain);
}

#[test]
fn a_simulated_machine_is_named_in_the_heading() {
    let mut report = specimen::server();
    report.simulated = true;
    let text = drawn(&report, TableStyle::default());
    let second = text.lines().nth(1).unwrap();
    assert_eq!(second, "SIMULATED: these counts come from a simulated machine, not from this one");
}

#[test]
fn packages_and_kinds_of_core_show_where_they_differ() {
    let mut report = specimen::report("hybrid", Vec::new(), &["work"]);
    for (number, core_type) in
        [CoreType::Performance, CoreType::Efficiency, CoreType::LowPower].into_iter().enumerate()
    {
        let core = number as u32;
        let place = PlaceReport { core_type, ..specimen::place(core / 2, core, 0, 2 * core) };
        let mut thread = specimen::thread(number, Some(place));
        thread.phases.push(specimen::row(0, 1, specimen::MS, &[]));
        if number == 1 {
            thread.name = Some("漢字 in\ta long name".to_string());
        }
        report.threads.push(thread);
    }
    assert_snapshot("hybrid.txt", &drawn(&report, TableStyle::default()));
}

#[test]
fn threads_that_may_have_moved_make_no_sum_of_a_core() {
    let mut report = specimen::server();
    assert!(drawn(&report, unicode(132)).contains(" core 1 "));
    report.threads[3].place.as_mut().unwrap().bound = false;
    let text = drawn(&report, unicode(132));
    assert!(text.contains(" core 0 ") && !text.contains(" core 1 "), "{text}");
    assert!(text.contains("  3*  3 worker-3"), "{text}");
}

#[test]
fn remarks_stay_few_however_much_went_amiss() {
    let names: Vec<String> = (0..500).map(|phase| format!("phase-{phase}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut report = specimen::report("amiss", Vec::new(), &names);
    for number in 0..300 {
        let mut thread = specimen::thread(number, None);
        thread.state = ThreadState::Exited;
        thread.notes = vec!["the same on all".to_string(), format!("only on {number}")];
        thread.phases = (0..400).map(|phase| specimen::row(phase, 1, 5, &[])).collect();
        thread.phases.iter_mut().for_each(|row| row.panics = 1);
        report.threads.push(thread);
    }
    let text = drawn(&report, TableStyle { top: Some(1), width: 300, ..TableStyle::default() });
    assert!(text.lines().count() < 80, "{text}");
    for line in [
        "\"phase-0\": 300 executions ended by a panic on threads 0-299, and counted",
        "376 more remarks on phases are left out here; JSON has all",
        "named but never run: \"phase-400\", \"phase-401\", \"phase-402\", \"phase-403\", \
         \"phase-404\", \"phase-405\", \"phase-406\", \"phase-407\" and 92 more",
        "threads 0-299: ended while attached, and detached for it",
        "threads 0-299: the same on all",
        "277 more notes of threads are left out here; JSON has all",
    ] {
        assert!(text.lines().any(|is| is == line), "{line}\n{text}");
    }
}

#[test]
fn all_digits_on_request() {
    let text = drawn(&specimen::server(), TableStyle { exact: true, ..unicode(200) });
    assert!(text.contains("2,436,000,000"), "{text}");
    assert!(text.contains("811,900,000"), "{text}");
}

/// Phases of 69 ns and of 5 us, whose `task-clock` contains 1.15 us of reading, and of a millisecond.
#[test]
fn a_clock_beyond_the_time_has_no_share() {
    let events = vec![specimen::event("task-clock", "ns")];
    let mut report = specimen::report("tiny", events, &["empty", "short", "long"]);
    for number in 0..2 {
        let mut thread = specimen::thread(number, None);
        thread.phases = vec![
            specimen::row(0, 1000, 69_000, &[1_223_000]),
            specimen::row(1, 1000, 5_000_000, &[6_150_000]),
            specimen::row(2, 10, 10 * specimen::MS, &[10_011_500]),
        ];
        report.threads.push(thread);
    }
    let wide = TableStyle { width: 200, ..TableStyle::default() };
    let text = drawn(&report, wide);
    assert!(!text.contains("1772.") && !text.contains("123.0 %"), "{text}");
    assert!(text.contains("100.1 %"), "within what two clocks may differ:\n{text}");
    assert!(
        text.contains("n/a  no rate: a clock counted more than the time of the runs\n"),
        "{text}"
    );
}

/// A phase of 69 ns has no counts for each second: most of them are of reading the counters.
#[test]
fn executions_shorter_than_reading_have_no_rates() {
    let events = [("task-clock", "ns"), ("page-faults", "faults"), ("CYCLES", "cycles")];
    let mut events = events.map(|(name, unit)| specimen::event(name, unit)).to_vec();
    let draw = |events: Vec<_>| {
        let mut report = specimen::report("tiny", events, &["empty", "long"]);
        let mut thread = specimen::thread(0, None);
        thread.phases = vec![
            specimen::row(0, 1000, 69_000, &[1_223_000, 69, 138_000]),
            specimen::row(1, 10, 10 * specimen::MS, &[10_011_500, 20, 30_000_000]),
        ];
        for row in &mut thread.phases {
            row.counts.truncate(report.events.len());
        }
        report.threads.push(thread);
        drawn(&report, TableStyle { width: 200, ..TableStyle::default() })
    };
    let text = draw(events.clone());
    let row = |text: &str, time: &str| {
        let line = text.lines().find(|line| line.contains(time));
        line.unwrap_or_else(|| panic!("no row of {time}:\n{text}")).to_owned()
    };
    assert_eq!(row(&text, "69.00 us").matches("n/a").count(), 3, "{text}");
    assert!(!row(&text, "10.00 ms").contains("n/a"), "{text}");
    // Without a clock nothing shows it.
    events[0] = specimen::event("context-switches", "switches");
    let text = draw(events);
    assert!(!row(&text, "69.00 us").contains("n/a"), "{text}");
}

/// A clock in the set of three executions of 10 ms, beside two executions of 20 ms that count another
/// set: it is beyond the time of its own executions, and not beyond that of all.
#[test]
fn a_clock_is_compared_with_the_executions_that_counted_it() {
    let mut report = specimen::rotate_event_sets(EventSetRotation::PerExecution);
    report.events[1] = specimen::event("task-clock", "ns");
    let row = &mut report.threads[0].phases[0];
    row.sets[0].counts[1].sum = 36 * specimen::MS;
    row.counts[1].raw.sum = 36 * specimen::MS;
    let text = drawn(&report, TableStyle { width: 200, ..TableStyle::default() });
    assert!(!text.contains("120.0 %"), "{text}");
}

#[test]
fn an_empty_report_says_so() {
    let report = specimen::report("idle", Vec::new(), &[]);
    assert_eq!(
        drawn(&report, TableStyle::default()),
        "session \"idle\", 0 threads, 0 phases, 1.250 s\nNo thread has attached.\n"
    );
}

#[test]
fn sums_do_not_overflow_and_cut_reports_do_not_panic() {
    let mut report = specimen::server();
    for thread in &mut report.threads {
        thread.attached = u64::MAX;
        for row in &mut thread.phases {
            row.executions = u64::MAX;
            row.time.sum = u64::MAX;
            row.counts.iter_mut().for_each(|count| count.raw.sum = u64::MAX);
        }
    }
    let text = drawn(&report, unicode(132));
    assert!(text.contains("73.79 E"), "{text}");
    report.threads[0].phases[1].counts.truncate(1);
    let text = drawn(&report, unicode(132));
    assert!(text.contains("the report holds no such count"), "{text}");
    report.phases.clear();
    assert!(drawn(&report, unicode(132)).contains("0 phases"));
}

#[test]
fn rotating_sets_are_named_and_their_figures_marked() {
    let drawn = drawn(&specimen::rotate_event_sets(EventSetRotation::PerExecution), unicode(120));
    assert_snapshot("rotation.txt", &drawn);
    // Three of five executions counted 4,000 each; two of five 6,000.
    assert!(drawn.contains("~20,000") && drawn.contains("~30,000"), "{drawn}");
    // IPC over all, though two thirds of the time were spent in longer executions.
    assert!(drawn.contains("0.643"), "90 M instructions over 140 M cycles:\n{drawn}");
    assert!(drawn.contains("≥~20,000"), "thread 1 has counted no cache misses:\n{drawn}");
}

#[test]
fn threads_of_a_team_stand_for_each_other() {
    let drawn = drawn(&specimen::rotate_event_sets(EventSetRotation::Staggered), unicode(120));
    assert_snapshot("rotation-staggered.txt", &drawn);
    // Five executions of thread 0 counted it; the estimate is for six.
    assert!(drawn.contains("~24,000") && !drawn.contains('≥'), "{drawn}");
}
