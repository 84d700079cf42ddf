//! How often the siblings of a core are active, by the kernel's own driver, beside two threads
//! that sleep and spin by a timetable.

use std::ops::RangeInclusive;

use super::arm::{self, TIMED_OLYMPUS};
use super::boots::{self, Options, TIMED_HASWELL, TIMED_NEHALEM};

/// Seconds that the threads keep to the timetable, and that are measured within.
const SECONDS: [&str; 2] = ["8", "5"];

/// How far a state may be off: one percentage point.
const NEAR: f64 = 0.01;

/// Shares of the time: none, only the first, only the second, both.
type States = [f64; 4];

/// The command beside the timetable, between two looks at the clock.
pub(crate) fn timetable() -> String {
    let [whole, measured] = SECONDS;
    let clock = "read up idle </proc/uptime; echo clock $up";
    format!(
        "/t/lab-guest smt {whole} >/tmp/truth & sleep 1; {clock}; /t/pacman-pmu smt --method \
         counters --json --duration {measured} --interval 10000; echo STATUS $?; {clock}; wait; \
         cat /tmp/truth"
    )
}

/// The command as a user who is nobody.
pub(crate) fn unprivileged() -> String {
    let nobody = "chmod 755 / /t; mkdir -p /etc; echo root:x:0:0::/:/bin/sh >/etc/passwd; \
                  echo nobody:x:65534:65534::/tmp:/bin/sh >>/etc/passwd";
    let smt = "/t/pacman-pmu smt --quiet --duration 0.3";
    format!(
        "set +e; {nobody}; for level in 1 2; do echo $level >/proc/sys/kernel/perf_event_paranoid; \
         su -s /bin/sh nobody -c '{smt} --method counters 2>&1; echo STATUS $?; {smt}'; done; true"
    )
}

/// The output of a job on a machine whose cycles follow time; `None` where there is no lab.
fn said(options: Options, job: &str) -> Option<&'static str> {
    let said = boots::said(options, job)?;
    assert_eq!(said.status, 0, "{}", said.text);
    Some(&said.text)
}

/// Splits the siblings' time by `event`, whose counter goes in steps of `step` nanoseconds.
fn siblings_are_split_right(options: Options, event: &str, step: RangeInclusive<f64>) {
    let Some(text) = said(options, &timetable()) else { return };
    let report = split_is_right(text, NEAR);
    assert_eq!(report["method"], "AnyThread reference cycles");
    assert_eq!(report["source"], event);
    let stated = report["step_s"].as_f64().expect("a time") * 1e9;
    assert!(step.contains(&stated), "{stated} ns");
}

/// Compares the first core's states with the timetable. Returns the report.
fn split_is_right(text: &str, near: f64) -> serde_json::Value {
    let (json, truth) = text.split_once("STATUS 0\n").unwrap_or_else(|| panic!("{text}"));
    let (before, json) = json.split_once('\n').expect("a line of the clock");
    let (after, truth) = truth.split_once('\n').expect("a line of the clock");
    let report: serde_json::Value = serde_json::from_str(json).expect(json);
    let event = report["source"].as_str().expect("a name");
    let core = &report["cores"][0];
    let share = |value: &serde_json::Value| value.as_f64().expect("a share");
    let shown = [
        share(&core["idle"]),
        share(&core["only"][0]),
        share(&core["only"][1]),
        share(&core["shared"]),
    ];
    let truth = scheduled(truth, [before, after].map(clock));
    println!("lab smt {event}: none, only the first, only the second, both");
    println!("lab smt {event}: counted   {shown:.4?}");
    println!("lab smt {event}: timetable {truth:.4?}");
    println!("lab smt: uncertainty {}, skew {} s", core["uncertainty"], core["skew_s"]);
    assert!(share(&core["uncertainty"]) < near, "{core:#}");
    for (shown, truth) in shown.iter().zip(truth) {
        assert!(truth > 0.1 && (shown - truth).abs() <= near, "{shown} for {truth}");
    }
    report
}

/// By idle times, and by slots that tell how long each sibling had the core alone.
#[test]
fn siblings_of_an_olympus_core_are_split_right() {
    let Some(text) = arm::said(TIMED_OLYMPUS, &timetable()) else { return };
    let report = split_is_right(text, NEAR);
    println!("lab smt on Arm: {}", report["method"]);
}

#[test]
fn siblings_of_a_haswell_core_are_split_right() {
    // Ten ticks of a TSC of 1 GHz.
    let event = "CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY";
    siblings_are_split_right(TIMED_HASWELL, event, 9.99..=10.01);
}

#[test]
fn siblings_of_a_nehalem_core_are_split_right() {
    // Ticks of the TSC; the fixed counter's bus of 133 MHz has seven and a half of them.
    let event = "CPU_CLK_UNHALTED.REF_P";
    siblings_are_split_right(TIMED_NEHALEM, event, 6.99..=8.01);
}

#[test]
fn without_privilege_there_are_idle_times_and_a_remedy() {
    let Some(text) = said(TIMED_HASWELL, &unprivileged()) else { return };
    assert_eq!(text.matches("STATUS 1\n").count(), 2, "{text}");
    assert_eq!(text.matches("from the idle times in /proc/stat").count(), 2, "{text}");
    for level in [1, 2] {
        let refusal = format!(
            "cannot count whole CPUs: permission denied: perf_event_paranoid is {level}; 0 or less \
             (sysctl kernel.perf_event_paranoid), or CAP_PERFMON, is needed\n"
        );
        for before in ["pacman-pmu: ", "idle times were chosen, because there are no counters: "] {
            assert!(text.contains(&(before.to_owned() + &refusal)), "{text}");
        }
    }
}

/// Nanoseconds of a line of the clock, which has hundredths of seconds.
fn clock(line: &str) -> u64 {
    let seconds = line.strip_prefix("clock ").and_then(|up| up.trim().parse::<f64>().ok());
    (seconds.unwrap_or_else(|| panic!("{line}")) * 1e9) as u64
}

/// The work of the threads, from their own records of spins, over the whole periods between two times:
/// a machine that is held up spoils a few periods, and they count where the command saw them.
fn scheduled(text: &str, [from, to]: [u64; 2]) -> States {
    let numbers = |line: &str| -> Vec<u64> {
        line.split(' ').skip(1).map(|word| word.parse().expect("a number")).collect()
    };
    let mut spins: [Vec<[u64; 2]>; 2] = Default::default();
    for line in text.lines().filter(|line| line.starts_with("spin ")) {
        let [sibling, begin, end] = numbers(line)[..] else { panic!("{line}") };
        spins[sibling as usize].push([begin, end]);
    }
    let number = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).map(numbers);
        line.unwrap_or_else(|| panic!("no line {name} in {text}"))[0]
    };
    let (start, period) = (number("start "), number("period "));
    let periods = from.saturating_sub(start).div_ceil(period)..to.saturating_sub(start) / period;
    let within = |spins: &[[u64; 2]]| -> Vec<[u64; 2]> {
        spins[periods.start as usize..(periods.end as usize).min(spins.len())].to_vec()
    };
    let [first, second] = &spins.map(|spins| within(&spins));
    assert!(first.len() == second.len() && first.len() >= 100, "{} spins", first.len());
    let time = |spins: &[[u64; 2]]| spins.iter().map(|[begin, end]| end - begin).sum::<u64>();
    // Spins of the same period alone can overlap.
    let both: u64 = first
        .iter()
        .zip(second)
        .map(|(one, other)| one[1].min(other[1]).saturating_sub(one[0].max(other[0])))
        .sum();
    let all = period * first.len() as u64;
    let (first, second) = (time(first), time(second));
    [all + both - first - second, first - both, second - both, both]
        .map(|time| time as f64 / all as f64)
}
