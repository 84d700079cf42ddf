//! The text against a small parser of the format, written from its specification.

use std::collections::{BTreeMap, HashSet};

use pacman_regions::Recording;

use super::document::{stream, write};
use crate::run::tests::made::{ThreadSpec, report, timed, with_phase};

/// A sample: its family, its labels, its value.
#[derive(Debug, PartialEq)]
struct Sample {
    family: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// All samples. Panics where a rule of the format is broken.
fn parsed(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("the last line ends the file");
    let (mut samples, mut seen) = (Vec::new(), HashSet::new());
    let (mut family, mut kind) = (String::new(), String::new());
    for line in body.lines() {
        if let Some(descriptor) = line.strip_prefix("# ") {
            let [what, name, rest] = descriptor.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            match what {
                "TYPE" => {
                    assert!(seen.insert(name.to_owned()), "samples of {name} are together");
                    (family, kind) = (name.to_owned(), rest.to_owned());
                }
                "UNIT" => assert!(name == family && name.ends_with(&format!("_{rest}")), "{line}"),
                "HELP" => assert_eq!(name, family),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (name, rest) = line.split_once('{').expect("labels");
        let suffix = name.strip_prefix(&*family).unwrap_or_else(|| panic!("{line} in {family}"));
        let expected = match &*kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        assert_eq!(suffix, expected, "{line}");
        let (labels, value) = labels(rest);
        assert!(seen.insert(format!("{name}{labels:?}")), "each sample is there once: {line}");
        samples.push(Sample {
            family: family.clone(),
            labels,
            value: value.parse().expect("a number"),
        });
    }
    samples
}

/// Labels up to the closing brace, and the text after it.
fn labels(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    while let Some((name, quoted)) = rest.split_once("=\"").filter(|_| !rest.starts_with('}')) {
        assert!(
            name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'),
            "{name}"
        );
        let (mut value, mut letters) = (String::new(), quoted.char_indices());
        let end = loop {
            match letters.next().expect("a quote") {
                (at, '"') => break at + 1,
                (_, '\\') => value.push(match letters.next().expect("a letter").1 {
                    'n' => '\n',
                    same @ ('"' | '\\') => same,
                    other => panic!("\\{other}"),
                }),
                (_, letter) => value.push(letter),
            }
        };
        assert!(labels.insert(name.to_owned(), value).is_none(), "{name} is there once");
        rest = quoted[end..].strip_prefix(',').unwrap_or(&quoted[end..]);
    }
    (labels, rest.strip_prefix("} ").expect("an end"))
}

fn run() -> Recording {
    let threads = [
        ThreadSpec { busy: 7.5, start: 0.25, waits: 3.0, cpu: 0 },
        ThreadSpec { busy: 7.0, start: 0.5, waits: 1.0, cpu: 2 },
    ];
    timed(&threads, "lock")
}

#[test]
fn every_figure_of_a_run_is_a_sample() {
    let samples = parsed(&write(&report(&[run()])));
    let value = |family: &str, own: &[(&str, &str)]| -> f64 {
        let of_labels = |sample: &&Sample| {
            let has = |(name, value): &(&str, &str)| {
                sample.labels.get(*name).is_some_and(|own| own == value)
            };
            sample.family == family && own.iter().all(has)
        };
        let found: Vec<_> = samples.iter().filter(of_labels).collect();
        assert_eq!(found.len(), 1, "{family} {own:?} in {samples:?}");
        found[0].value
    };
    assert_eq!(value("pacman_run", &[("command", "x")]), 1.0);
    assert_eq!(value("pacman_process_seconds", &[("program", "x"), ("pid", "7")]), 8.5);
    assert_eq!(
        value("pacman_region_executions", &[("region", "solve, line 10"), ("line", "10")]),
        1.0
    );
    assert_eq!(value("pacman_region_seconds", &[("file", "a<b.c")]), 8.0);
    assert_eq!(value("pacman_region_thread_busy_seconds", &[("thread", "1")]), 7.0);
    for (state, seconds) in [("useful", 6.0), ("start", 0.5), ("lock", 1.0), ("end", 0.5)] {
        let own = [("thread", "1"), ("state", state)];
        assert_eq!(value("pacman_region_thread_state_seconds", &own), seconds, "{state}");
    }
    let share = value("pacman_process_processor_share_ratio", &[("pid", "7")]);
    assert_eq!(share, 16.0 / (16.0 + 0.1));
    let parallel = value("pacman_process_efficiency_ratio", &[("factor", "parallel")]);
    // The first thread works outside of the region, too.
    assert!((parallel - (10.5 + 0.5) / 17.0).abs() < 1e-9, "useful time of all: {parallel}");
}

#[test]
fn labels_with_any_letters_come_back_and_the_stream_is_the_same() {
    let mut odd = run();
    odd.process.pid = 8;
    odd.process.host = Some("a\"b\\c\nd".into());
    odd.regions[0].site.source = Some(";a.c;f\"\\n{,};10;1;;".into());
    let recordings = [run(), odd];
    let text = write(&report(&recordings));
    let samples = parsed(&text);
    let of_host = samples
        .iter()
        .filter(|one| one.labels.get("host").is_some_and(|host| host == "a\"b\\c\nd"));
    let regions: HashSet<_> = of_host.filter_map(|one| one.labels.get("region")).collect();
    assert_eq!(regions.into_iter().collect::<Vec<_>>(), ["f\"\\n{,}, line 10"]);
    let mut streamed = Vec::new();
    let whole = report(&recordings);
    stream(&whole, report(&recordings).processes.into_iter(), &mut streamed).expect("a file");
    let without_date = |text: &str| text.lines().skip(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_date(std::str::from_utf8(&streamed).expect("UTF-8")), without_date(&text));
}

#[test]
fn phases_are_samples() {
    let samples = parsed(&write(&report(&[with_phase(run())])));
    let values = |family: &str| -> Vec<f64> {
        let of_phase = |sample: &&Sample| {
            let labels = [("phase", "assemble"), ("kind", "likwid")];
            let has = |(name, value): (&str, &str)| {
                sample.labels.get(name).is_some_and(|own| own == value)
            };
            sample.family == family && labels.into_iter().all(has)
        };
        samples.iter().filter(of_phase).map(|sample| sample.value).collect()
    };
    assert_eq!(values("pacman_phase_executions"), [6.0]);
    assert_eq!(values("pacman_phase_seconds"), [1.5]);
    assert_eq!(values("pacman_phase_thread_executions"), [3.0, 3.0]);
    assert_eq!(values("pacman_phase_thread_unended"), [0.0, 1.0]);
    assert_eq!(values("pacman_phase_thread_seconds"), [1.5, 0.25]);
    assert_eq!(values("pacman_phase_thread_events"), [1.5e9, 0.25e9]);
}
