//! One thread with the whole PMU of a core whose SMT is off: eight general counters.

use super::boots::SMT_OFF;
use super::guest;

#[test]
fn eight_general_counters_where_smt_is_off() {
    let Some(text) = guest(SMT_OFF, "eight") else { return };
    for line in ["contexts 1", "reads Rdpmc", "tables 4 8"] {
        assert!(text.lines().any(|said| said == line), "{line} in:\n{text}");
    }
    let mut counted = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("event ")) {
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers[1], numbers[2], "event {}:\n{text}", numbers[0]);
        counted += 1;
    }
    println!("lab, SMT off: {counted} general counters at once, all exact");
    assert_eq!(counted, 8);
}
