//! Sessions on a hybrid processor, against Linux's own driver of both PMUs.

use super::boots::ALDER_LAKE;
use super::guest;

/// User instructions that a thread's own code around the known loops takes for each move.
const EDGE: u64 = 400;

#[test]
fn a_thread_that_moves_between_core_types_loses_no_count() {
    let Some(text) = guest(ALDER_LAKE, "hybrid") else { return };
    for thread in 0..2 {
        let read = format!("reads {thread} ReadCall");
        assert!(text.lines().any(|line| line == read), "{read} in:\n{text}");
    }
    let mut counted = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("counted ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let [thread, event, count, known] = words.as_slice() else { panic!("{line}") };
        let (count, known): (u64, u64) = (count.parse().unwrap(), known.parse().unwrap());
        // At least 5 known loops on each core type, of 100,000 instructions and more.
        assert!(known > 500_000, "{line}");
        let edge = count.checked_sub(known);
        assert!(edge.is_some_and(|edge| edge <= 11 * EDGE), "{line}: lost or invented\n{text}");
        println!(
            "lab alderlake: thread {thread}, {event}: {count}, {} beyond the loops",
            edge.unwrap()
        );
        counted += 1;
    }
    assert_eq!(counted, 6, "two threads, all cores and two core types:\n{text}");
}
