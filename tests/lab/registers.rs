//! Intel's and AMD's counters, programmed directly, with the kernel's driver idle.

use super::boots::{HASWELL, NEHALEM, Options, ZEN};
use super::guest;

pub(crate) const OF_HASWELL: &[&str] = &[
    "INST_RETIRED.ANY",
    "CPU_CLK_UNHALTED.THREAD",
    "L2_RQSTS.MISS",
    "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.HIT_OTHER_CORE_NO_FWD",
];
pub(crate) const OF_NEHALEM: &[&str] =
    &["INST_RETIRED.ANY", "OFFCORE_RESPONSE_0.DEMAND_DATA_RD.ANY_DRAM"];
pub(crate) const OF_ZEN: &[&str] = &[
    "RETIRED_INSTRUCTIONS",
    "CYCLES_NOT_IN_HALT",
    "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:IC_FILL_MISS",
];

/// The guest's job for a list of events.
pub(crate) fn job(events: &[&str]) -> String {
    format!("registers {}", events.join(","))
}

/// Both siblings count known loops and rung events, exactly and without a system call.
fn count_exactly(options: Options, events: &[&str]) {
    let Some(text) = guest(options, &job(events)) else { return };
    let mut seen = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("counted ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<i64>().expect("a number");
        let (event, counted, rung, known) = (words[1], number(3), number(4), number(5));
        assert_eq!(words[2], "Rdpmc", "{line}");
        match event {
            "INST_RETIRED.ANY" | "RETIRED_INSTRUCTIONS" => {
                assert!((0..=300).contains(&(counted - known)), "{line}");
            }
            "CPU_CLK_UNHALTED.THREAD" | "CYCLES_NOT_IN_HALT" => {
                assert!((0..=900).contains(&(counted - 3 * known)), "{line}");
            }
            _ => assert_eq!(counted, rung, "{line}"),
        }
        seen += 1;
    }
    println!("registers {options:?}: {seen} events counted exactly, two siblings at once");
    assert_eq!(seen, 2 * events.len(), "{text}");
}

#[test]
fn haswell_counts_through_its_registers() {
    count_exactly(HASWELL, OF_HASWELL);
}

#[test]
fn nehalem_s_siblings_share_the_off_core_response_register() {
    count_exactly(NEHALEM, OF_NEHALEM);
}

#[test]
fn zen_counts_through_its_registers() {
    count_exactly(ZEN, OF_ZEN);
}
