//! Actions of programs on their threads, descriptors and processes while they count.

use pacman_suite::skipped;

use super::toolchain::{Language, Linking, compile, folder, program};
use super::{json, phases};
use pacman_suite::command::{finish, have};

#[test]
fn exit_handlers_and_destructors_are_answered_and_reports_hold_the_data() {
    let folder = folder();
    let path = compile("tests/c/ending.c", Language::C99, Linking::Shared, &[], &folder);
    for place in ["atexit", "destructor", "thread"] {
        let file = folder.path().join(place);
        finish(program(&path).arg(place).arg(&file));
        let report = json(&std::fs::read_to_string(&file).expect("a report"));
        let found = phases(&report);
        assert_eq!(found.len(), 3, "{place}: {report}");
        for (number, thread) in found.iter().enumerate() {
            assert_eq!((thread.len(), thread[0].1), (1, 1), "{place}: thread {number}");
        }
        // An empty phase is mostly of readings; that anything was lost would be said here too.
        for note in report["notes"].as_array().expect("notes") {
            assert!(
                note.as_str().is_some_and(|note| note.contains("its readings")),
                "{place}: {report}"
            );
        }
        assert_eq!(report["threads"][0]["state"], "exited", "{place}");
    }
}

#[test]
fn a_static_object_reports_when_it_is_destroyed() {
    if !have(Language::Cpp11.compiler()) {
        skipped(format_args!("no {}", Language::Cpp11.compiler()));
        return;
    }
    let folder = folder();
    let path = compile("tests/c/objects.cpp", Language::Cpp11, Linking::Shared, &[], &folder);
    let printed = String::from_utf8(finish(&mut program(&path)).stdout).expect("UTF-8");
    let found = phases(&json(&printed));
    assert_eq!((found.len(), found[0][0].1), (1, 1), "{printed}");
}

#[test]
fn threads_can_be_cancelled_in_any_call() {
    let folder = folder();
    let path = compile("tests/c/cancel.c", Language::C99, Linking::Shared, &[], &folder);
    for call in 0..8 {
        finish(program(&path).arg(call.to_string()));
    }
}

#[test]
fn children_report_on_what_they_inherit_whatever_the_threads_were_doing() {
    let folder = folder();
    let path = compile("tests/c/forks.c", Language::C99, Linking::Shared, &[], &folder);
    finish(&mut program(&path));
}

#[test]
fn phases_and_nesting_have_limits_and_take_the_room_of_those_that_ran() {
    let folder = folder();
    let path = compile("tests/c/limits.c", Language::C99, Linking::Shared, &[], &folder);
    finish(&mut program(&path));
}

#[test]
fn threads_that_end_leave_their_counts_and_no_memory() {
    the_memory_of_lives(4_000);
}

#[test]
#[ignore = "takes half a minute: a hundred thousand threads"]
fn a_hundred_thousand_threads_leave_their_counts_and_no_memory() {
    the_memory_of_lives(100_000);
}

/// Has so many threads end, after a first 3,000.
fn the_memory_of_lives(more: u64) {
    let folder = folder();
    let path = compile("tests/c/lives.c", Language::C99, Linking::Shared, &[], &folder);
    let file = folder.path().join("report");
    let printed = finish(program(&path).arg(more.to_string()).arg(&file)).stdout;
    let printed = String::from_utf8(printed).expect("UTF-8");
    let resident: Vec<u64> =
        printed.split_whitespace().map(|word| word.parse().expect("kilobytes")).collect();
    assert!(resident[1] * 100 <= resident[0] * 101, "{printed} kB before and after");
    let report = json(&std::fs::read_to_string(&file).expect("a report"));
    let rows = report["threads"].as_array().expect("threads");
    assert_eq!(rows.len(), 1025);
    let shared = rows.last().expect("the last row");
    assert_eq!(shared["threads"], 3000 + more - 1024);
    assert_eq!(shared["name"], format!("{} ended threads", 3000 + more - 1024));
    let runs = |thread: &Vec<(String, u64, u64)>| [thread[0].1, thread[1].1];
    let sums = phases(&report).iter().map(runs).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
    assert_eq!(sums, [3 * (3000 + more), 3000 + more], "no execution is lost");
}

#[test]
fn files_of_the_program_are_neither_read_nor_closed() {
    let folder = folder();
    let path = compile("tests/c/closing.c", Language::C99, Linking::Shared, &[], &folder);
    finish(&mut program(&path));
}
