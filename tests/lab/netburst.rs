//! Both threads of a Pentium 4, counted at the same time by programming the registers:
//! what the library was first made for.

use super::boots::PENTIUM_4;
use super::guest;

/// The output of the guest.
fn output() -> Option<&'static str> {
    guest(PENTIUM_4, "netburst")
}

/// The words after `name` of each line that begins with it.
fn lines<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    text.lines().filter_map(move |line| {
        let (first, rest) = line.split_once(' ')?;
        (first == name).then(|| rest.split(' ').collect())
    })
}

/// The rest of the only line that begins with `name`.
fn line<'a>(text: &'a str, name: &str) -> &'a str {
    let mut found = text.lines().filter_map(|line| line.strip_prefix(name));
    let only = found.next().unwrap_or_else(|| panic!("{name:?} in:\n{text}"));
    assert_eq!(found.next(), None, "{name:?} twice in:\n{text}");
    only.trim()
}

fn numbers<const N: usize>(words: &[&str]) -> [i64; N] {
    let parsed = words.iter().map(|word| word.parse().expect("a number"));
    parsed.collect::<Vec<i64>>().try_into().expect("as many numbers as the guest prints")
}

#[test]
fn each_thread_counts_exactly_its_own_in_every_phase() {
    let Some(text) = output() else { return };
    for logical in ["reads 0", "reads 1"] {
        assert_eq!(line(text, logical), "Rdpmc");
    }
    let phases: Vec<[i64; 11]> = lines(text, "phase").map(|words| numbers(&words)).collect();
    assert_eq!(phases.len(), 400, "two threads of two hundred phases");
    let (mut edges, mut cycles) = (Vec::new(), Vec::new());
    for [logical, phase, retired, known, running, first, rung, second, rung_too, ..] in &phases {
        edges.push(retired - known);
        cycles.push(running - 3 * retired);
        assert_eq!((first, second), (rung, rung_too), "thread {logical}, phase {phase}");
    }
    let range = |all: &[i64]| (*all.iter().min().unwrap(), *all.iter().max().unwrap());
    println!("netburst: counted minus known instructions over 400 phases: {:?}", range(&edges));
    println!("netburst: cycles minus 3 an instruction: {:?}", range(&cycles));
    assert!(edges.iter().all(|edge| (0..=300).contains(edge)), "{:?}", range(&edges));
    assert!(cycles.iter().all(|off| off.abs() <= 900), "{:?}", range(&cycles));
    let of = |logical| phases.iter().filter(move |phase| phase[0] == logical);
    let overlapping =
        of(0).filter(|one| of(1).any(|other| one[9] < other[10] && other[9] < one[10])).count();
    println!("netburst: {overlapping} of 200 phases ran on both threads at once");
    assert!(overlapping >= 180);
}

/// Checks the events that were rung; answers how many counted.
fn rung(text: &str, plan: &str) -> usize {
    let mut counting = 0;
    for words in lines(text, plan).filter(|words| words.len() == 4) {
        let [counted, times] = numbers(&words[2..]);
        match words[1] {
            // Count by themselves: twenty thousand instructions and what lies around.
            "instr_retired:NBOGUSNTAG" => assert!((20_000..40_000).contains(&counted)),
            "global_power_events:RUNNING" => assert!((60_000..120_000).contains(&counted)),
            event => assert_eq!(counted, times, "{event} of thread {}", words[0]),
        }
        counting += 1;
    }
    counting
}

#[test]
fn nine_events_on_each_thread_fill_all_eighteen_counters() {
    let Some(text) = output() else { return };
    let counting = rung(text, "even");
    println!("netburst: {counting} events counted at once, split in halves");
    assert_eq!(counting, 18);
}

#[test]
fn a_plan_by_demand_counts_what_halves_cannot() {
    let Some(text) = output() else { return };
    assert_eq!(line(text, "even refuses"), "true");
    assert_eq!(rung(text, "demand"), 6);
}

#[test]
fn clockticks_and_cpi_are_the_manual_s() {
    let Some(text) = output() else { return };
    let words: Vec<&str> = line(text, "clockticks").split(' ').collect();
    let [retired, running, powered, ticks] = numbers(&words);
    let (non_halted, nominal) = line(text, "cpi").split_once(' ').expect("two ratios");
    println!(
        "netburst: {running} non-halted and {powered} non-sleep clockticks for {retired} instructions"
    );
    println!("netburst: CPI {non_halted} non-halted, {nominal} nominal");
    // The lab: 3 core cycles and 2 ticks of the time stamp an instruction.
    assert!((running - 3 * retired).abs() <= 300);
    // Non-sleep clockticks know neither rings nor threads: the kernel's are in it.
    assert!(powered >= running && powered < running + running / 10);
    assert!(ticks >= 2 * retired && ticks < 2 * retired + retired / 5);
    assert_eq!(non_halted, "3.0000");
}

#[test]
fn reading_four_counters_takes_at_most_forty_instructions() {
    let Some(text) = output() else { return };
    let user: f64 = line(text, "cost user").parse().expect("a number");
    let kernel: f64 = line(text, "cost kernel").parse().expect("a number");
    println!("netburst: reading four events: {user} user instructions, {kernel} kernel");
    assert!(user <= 40.0 && kernel < 0.5);
}

#[test]
fn the_device_reads_the_same_and_counts_past_the_turn() {
    let Some(text) = output() else { return };
    for (logical, extra) in [("0", 77), ("1", 78)] {
        let counted = format!("ReadCall {}", 3 * (1u64 << 39) + extra);
        assert_eq!(line(text, &format!("device {logical}")), counted);
    }
}

#[test]
fn registers_come_back() {
    let Some(text) = output() else { return };
    assert_eq!(line(text, "replay while one still counts"), "[1000001, 1]");
    for what in ["restored after drop", "programmed", "restored after panic"] {
        assert_eq!(line(text, what), "true", "{what}");
    }
    for (number, name) in [(2, "SIGINT"), (15, "SIGTERM")] {
        // The child counted, the registers were changed and came back, and it ended as
        // it would have without a handler.
        let told = format!("true true true signal: {number} ({name})");
        assert_eq!(line(text, &format!("signal {number}")), told);
    }
}

#[test]
fn refusals_name_the_owner() {
    let Some(text) = output() else { return };
    let begin = "cannot count instr_retired:NBOGUSNTAG, global_power_events:RUNNING, \
                 uop_queue_writes:FROM_TC_BUILD, memory_cancel:64K_CONF on cpu";
    let refused: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("refused ")).collect();
    assert_eq!(
        refused,
        [
            format!(
                "{begin} 0: instr_retired:NBOGUSNTAG needs counter 12, and MSR 0x36c = 0x39000 is \
                 enabled by somebody unknown; end other profilers, or count other events"
            ),
            format!(
                "{begin} 0: another session of this process holds MSR 0x36c; end it, or plan both \
                 together"
            ),
            format!(
                "{begin} 0: the thread was moved to cpu 1, and its counts stayed behind; bind it \
                 and attach again"
            ),
            format!(
                "{begin} 1: the plan has nothing for context 1 of a core; bind the thread to a \
                 context that it plans for"
            ),
        ]
    );
    let claims: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("claim ")).collect();
    let claim = format!(
        "{begin} 0: process CHILD holds MSR 0x36c through PACMAN; wait for it, or count other events"
    );
    assert_eq!(claims, [claim.as_str(), claim.as_str()]);
}
