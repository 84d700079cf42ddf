//! The lab tier: the kernel's own PMU drivers on emulated processors with SMT
//! siblings, whose counters are exact.

mod arm;
mod arm_command;
mod arm_suites;
mod boots;
mod by_registers;
mod eight;
mod energy;
mod hybrid;
mod models;
mod netburst;
mod nodes;
mod omp;
mod probes;
mod processors;
mod rates;
mod registers;
#[path = "../../pacman-cli/tests/cli/rows.rs"]
mod rows;
mod slots;
mod smt;
mod stat;
mod topdown;
mod turns;
mod validate;

use boots::{HASWELL, ICE_LAKE, Options, ZEN};

/// The output of a job of the guest program; `None` where there is no lab.
fn guest(options: Options, job: &str) -> Option<&'static str> {
    let line = boots::guest(job);
    if options.iter().any(|option| arm::MODELS.contains(option)) {
        return arm::said(options, &line);
    }
    let said = boots::said(options, &line)?;
    assert_eq!(said.status, 0, "{job} on {options:?}:\n{}", said.text);
    Some(&said.text)
}

/// One logged phase of the known loops.
struct Sample {
    cpu: u32,
    counted: i64,
    expected: i64,
    begin: u64,
    end: u64,
}

fn samples(text: &str) -> Vec<Sample> {
    let parse = |line: &str| -> Option<Sample> {
        let mut words = line.strip_prefix("sample ")?.split(' ');
        let mut next = || words.next()?.parse::<i64>().ok();
        Some(Sample {
            cpu: next()? as u32,
            counted: next()?,
            expected: next()?,
            begin: next()? as u64,
            end: next()? as u64,
        })
    };
    text.lines().filter_map(parse).collect()
}

/// Each sibling counts its own known loop to the instruction, both at once,
/// without a system call.
fn siblings_count_their_own(cpu: &str, options: Options) {
    let Some(text) = guest(options, "siblings") else { return };
    for context in ["reads 0 Rdpmc", "reads 1 Rdpmc"] {
        assert!(text.lines().any(|line| line == context), "{context} in:\n{text}");
    }
    counted_at_once(cpu, text, 200);
}

/// Two threads of fifty phases each counted their own loop, and at most `edge` instructions of
/// the library's, while the other one ran.
fn counted_at_once(cpu: &str, text: &str, edge: i64) {
    let all = samples(text);
    assert_eq!(all.len(), 100, "two threads of fifty phases:\n{text}");
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    for sample in &all {
        let more = sample.counted - sample.expected;
        (least, most) = (least.min(more), most.max(more));
    }
    println!("lab {cpu}: counted minus known, over {} phases: {least}..={most}", all.len());
    assert!(0 <= least && most <= edge, "{least}..={most}");
    let (one, other): (Vec<&Sample>, Vec<&Sample>) = all.iter().partition(|s| s.cpu == 0);
    let overlapping =
        one.iter().zip(&other).filter(|(a, b)| a.begin < b.end && b.begin < a.end).count();
    println!("lab {cpu}: {overlapping} of {} phases ran on both siblings at once", one.len());
    assert!(overlapping * 10 >= one.len() * 9);
}

#[test]
fn siblings_of_a_haswell_core() {
    siblings_count_their_own("core", HASWELL);
}

#[test]
fn siblings_of_a_zen_core() {
    siblings_count_their_own("amd", ZEN);
}

#[test]
fn a_forked_child_gets_an_error_and_does_not_fault() {
    a_forked_child_is_told(HASWELL);
}

fn a_forked_child_is_told(options: Options) {
    let Some(text) = guest(options, "forked") else { return };
    assert_eq!(
        text.trim().lines().collect::<Vec<_>>(),
        ["the child was told: true", "the parent counts: true"]
    );
}

#[test]
fn too_many_events_and_taken_counters_are_different_errors() {
    let Some(text) = guest(HASWELL, "conflicts") else { return };
    assert_eq!(
        text.trim().lines().collect::<Vec<_>>(),
        [
            "too-many Conflict: cannot count r108 beside r412e, r4f2e, rc4, rc5: 5 events need \
             counters 0-3, which are not enough; what helps: turn SMT off in the firmware, which \
             gives a context 8 general counters; or rotate event sets: r108 in one execution, the others \
             in the next; by rotation of event sets (rotate_event_sets) a session counts them in 2 sets",
            "taken NotScheduled: cannot read rc4, rc5: the kernel could not keep the group on its \
             counters; another profiler holds the counters; end it or count fewer events",
        ]
    );
}

#[test]
fn a_compare_and_exchange_changes_one_flag() {
    const ZERO: u64 = 1 << 6;
    let Some(text) = guest(ICE_LAKE, "flags") else { return };
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("hex");
    let lines: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("flags ")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [compared, succeeded, failed] = [1, 2, 3].map(|at| number(words[at]));
        assert_eq!(compared & 0x81, 0x81, "0 is below 16: {line}");
        assert_eq!((succeeded, failed), (compared | ZERO, compared & !ZERO), "{line}");
    }
}
