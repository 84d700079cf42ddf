//! The main job without the kernel's driver: sessions that program the registers.

use super::boots::{self, PENTIUM_4};
use super::guest;

/// `stat` cannot count threads of others by registers, and says so unless told to trust the driver.
pub(crate) const STAT: &str = "/t/pacman-pmu stat -e INSTRUCTIONS -- true 2>&1; echo status $?; \
    /t/pacman-pmu stat --csv -e INSTRUCTIONS,task-clock --trust-driver -- true 2>&1; \
    /t/pacman-pmu doctor | grep \"kernel's driver\"";

#[test]
fn a_session_counts_both_threads_of_a_pentium_4() {
    let Some(text) = guest(PENTIUM_4, "by-registers") else { return };
    for context in ["reads 0 Rdpmc", "reads 1 Rdpmc"] {
        assert!(text.lines().any(|line| line == context), "{context} in:\n{text}");
    }
    each_counts_its_own(text);
}

#[test]
fn right_counts_on_a_pentium_4_need_no_placement() {
    let Some(text) = guest(PENTIUM_4, "unplaced") else { return };
    each_counts_its_own(text);
    let times = |line: &str| text.lines().filter(|is| *is == line).count();
    assert_eq!((times("bound true"), times("given back true")), (2, 2), "{text}");
}

#[test]
fn without_privilege_a_pentium_4_is_refused_or_marked() {
    let Some(text) = guest(PENTIUM_4, "unprivileged") else { return };
    let only = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).expect(name);
    let doubt = "Linux's driver for NetBurst writes a stale period over a counter when threads \
                 change, so that a count may be off by up to 2^40";
    assert_eq!(
        only("refused "),
        format!(
            "cannot count INSTRUCTIONS: {doubt}, and the registers cannot be programmed instead: \
             /dev/cpu/0/msr says Permission denied (os error 13); run as root (CAP_SYS_RAWIO); or \
             accept counts that may be wrong and are marked (PACMAN_TRUST_DRIVER=1)"
        )
    );
    assert_eq!(only("doubt "), doubt);
}

#[test]
fn who_counts_threads_of_others_on_a_pentium_4_must_trust_its_driver() {
    let Some(boots::Said { text, .. }) = boots::said(PENTIUM_4, STAT) else { return };
    for part in [
        // The program ran, without that event.
        "INSTRUCTIONS: <not supported>: cannot count INSTRUCTIONS through the kernel: Linux's driver for NetBurst",
        "status 0\n",
        ",INSTRUCTIONS? [instructions],task-clock [ns]\n",
        "not trusted: Linux's driver for NetBurst writes a stale period",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

/// Checks the samples of two siblings against what they did.
fn each_counts_its_own(text: &str) {
    let samples: Vec<[i64; 5]> = text
        .lines()
        .filter_map(|line| {
            let words = line.strip_prefix("sample ")?.split(' ');
            let numbers: Vec<i64> = words.map(|word| word.parse().expect("a number")).collect();
            Some(numbers.try_into().expect("five numbers"))
        })
        .collect();
    assert_eq!(samples.len(), 100, "two threads of fifty phases:\n{text}");
    let edges: Vec<i64> = samples.iter().map(|[_, retired, .., known]| retired - known).collect();
    let (least, most) = (edges.iter().min().unwrap(), edges.iter().max().unwrap());
    println!("lab p4: counted minus known instructions over 100 phases: {least}..={most}");
    assert!((0..=300).contains(least) && (0..=300).contains(most), "{least}..={most}");
    for [cpu, retired, cycles, writes, _] in samples {
        // The lab's clock: three core cycles an instruction.
        assert!((cycles - 3 * retired).abs() <= 900, "thread {cpu}: {cycles} for {retired}");
        assert_eq!(writes, 0, "nobody rings for them");
    }
}
