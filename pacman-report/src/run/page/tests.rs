//! Pages of made-up runs in a real browser.

use pacman_regions::{Recording, TimelineRow};
use pacman_suite::browser;
use serde_json::{Value, json};

use crate::run::json;
use crate::run::report::{FIGURES, Report};
use crate::run::tests::made::{self, ThreadSpec, recording, report, report_on, timed, wide};

const SIZES: [(u32, u32); 4] = [(390, 844), (800, 600), (1280, 800), (1920, 1080)];

fn open(page: &str, size: (u32, u32), probe: &str) -> Option<Value> {
    let probe = format!(
        "const all = name => Array.from(document.querySelectorAll(name), one => one.textContent);
         const count = name => document.querySelectorAll(name).length;
         seen.text = document.getElementById('main').innerText.replace(/\\u00a0/g, ' ');
         seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
         seen.drawn = Number(document.documentElement.dataset.drawn);
         {probe}"
    );
    browser::open(page, size, "document.documentElement.dataset.ready", &probe)
}

fn drawn(report: &Report, probe: &str) -> Option<Value> {
    open(&super::of(report), (1280, 800), probe)
}

fn says(seen: &Value, part: &str) {
    let text = seen["text"].as_str().expect("text");
    assert!(text.contains(part), "lacks {part:?}: {text}");
}

fn spec(waits: f64, cpu: u32) -> ThreadSpec {
    ThreadSpec { busy: 8.0, start: 0.0, waits, cpu }
}

/// The document of a run of 500 regions, of which a few are made and stand for all.
fn many_regions(threads: u32) -> String {
    let report = report_on(threads.div_ceil(2), &[wide(threads, 10, &[])]);
    let mut whole: Value = serde_json::from_str(&json::line(&report)).expect("JSON");
    let regions = whole["processes"][0]["regions"].take();
    whole["processes"][0]["regions"] = json!(["here"]);
    let regions: Vec<String> =
        regions.as_array().expect("a list").iter().map(Value::to_string).collect();
    // Equal regions are too far from each other for gzip to see it where they are long.
    let all: Vec<&str> = regions.iter().map(String::as_str).cycle().take(500).collect();
    whole.to_string().replace("\"here\"", &all.join(","))
}

#[test]
fn pages_of_one_and_of_64_threads_are_small_and_drawn_at_once() {
    are_small_and_drawn_at_once(&[1, 64]);
}

#[test]
#[ignore = "a debug build makes the document for minutes"]
fn pages_of_a_thousand_threads_are_small_and_drawn_at_once() {
    are_small_and_drawn_at_once(&[1024]);
}

/// The demands on size and time of a page with 500 regions.
fn are_small_and_drawn_at_once(threads: &[u32]) {
    for &threads in threads {
        let page = super::with(many_regions(threads).as_bytes()).expect("a page");
        println!("{threads} threads x 500 regions: {} bytes", page.len());
        assert!(page.len() <= 3_000_000, "{} bytes", page.len());
        for size in SIZES {
            let probe = "
                seen.rows = count('table.regions tbody tr');
                const list = document.querySelector('.chooser select');
                list.value = list.options[list.options.length - 1].value;
                list.dispatchEvent(new Event('change'));
                seen.panel = document.querySelector('.panel').textContent;
                seen.threads = count('.by-thread tbody tr');";
            // The machine may be busy with other tests: the quickest of three counts.
            let Some(mut seen) = open(&page, size, probe) else { return };
            for _ in 0..2 {
                if seen["drawn"].as_f64() >= Some(2000.0) {
                    seen = open(&page, size, probe).expect("as above");
                }
            }
            println!("{threads} threads x 500 regions at {size:?}: {} ms", seen["drawn"]);
            assert!(
                seen["drawn"].as_f64().expect("a time") < 2000.0,
                "{threads}: {}",
                seen["drawn"]
            );
            assert_eq!((&seen["overflow"], &seen["rows"]), (&0.into(), &500.into()), "{size:?}");
            if threads == 1024 {
                let panel = seen["panel"].as_str().expect("text");
                assert!(panel.contains("distribution over the 1,024 threads"), "{panel}");
                assert!(seen["threads"].as_u64() > Some(5), "a row for each figure");
                says(&seen, "this page has the distribution over the threads");
            }
        }
    }
}

#[test]
fn threads_of_a_wide_team_are_a_table_when_it_is_opened() {
    let report = report_on(128, &[wide(256, 2, &["CYCLES"])]);
    let probe = "
        seen.before = count('table.threads tbody tr');
        const details = document.querySelector('.by-thread details');
        details.open = true;
        details.fill();
        seen.after = count('table.threads tbody tr');
        seen.bars = count('.panel .who');";
    let Some(seen) = drawn(&report, probe) else { return };
    assert_eq!(
        (&seen["before"], &seen["after"], &seen["bars"]),
        (&0.into(), &256.into(), &256.into())
    );
}

#[test]
fn hostile_names_are_text_and_nothing_else() {
    let evil =
        "</script><img src=x onerror=\"window.errors.push('ran')\"><!--<script>\u{2028}&amp;";
    let mut recording = made::with_phase(timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier"));
    recording.process.command = vec![evil.into(), evil.into()];
    recording.process.host = Some(evil.into());
    recording.notes = vec![evil.into()];
    recording.regions[0].label = Some(evil.into());
    recording.regions[0].entry = evil.into();
    recording.phases[0].name = evil.into();
    recording.events[0].name = evil.into();
    let mut other = recording.clone();
    other.process.pid += 1;
    let mut report = report(&[recording, other]);
    report.run.command = vec![evil.into()];
    let page = super::of(&report);
    let (_, document) = page.split_once("id=\"document\"").expect("a document");
    let document = document.split_once("</script>").expect("an end").0;
    assert!(!document.contains('<') && !document.contains('\u{2028}'), "{document}");
    let probe = "
        seen.images = count('img');
        seen.scripts = count('main script');
        seen.listeners = count('[onerror]');
        seen.title = document.title;";
    let Some(seen) = open(&page, (390, 844), probe) else { return };
    let none: Value = 0.into();
    assert_eq!(
        [&seen["images"], &seen["scripts"], &seen["listeners"], &seen["overflow"]],
        [&none; 4]
    );
    says(&seen, "</script><img src=x onerror=\"window.errors.push('ran')\"><!--<script>");
    assert!(seen["title"].as_str().expect("a title").contains("<img src=x"), "{seen}");
}

/// A report of a command that wrote no headline, no factors and no words for places.
#[test]
fn a_report_of_an_earlier_version_is_drawn() {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(members) => {
                let later = [
                    "headline",
                    "factors",
                    "losses",
                    "at",
                    "short_name",
                    "title",
                    "mpi_factors",
                    "region_figures",
                ];
                later.iter().for_each(|name| drop(members.remove(*name)));
                members.values_mut().for_each(forget);
            }
            Value::Array(values) => values.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let report = report(&[timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier")]);
    let mut old: Value = serde_json::from_str(&json::line(&report)).expect("JSON");
    forget(&mut old);
    let page = super::with(old.to_string().as_bytes()).expect("a page");
    let Some(seen) = open(&page, (800, 600), "seen.h1 = all('h1');") else { return };
    assert_eq!(seen["h1"], json!(["94 % of 8.50 s in 1 region."]));
    says(&seen, "load balance");
    says(&seen, "at barrier, a<b.c:20");
    assert_eq!(seen["overflow"], 0);
}

#[test]
fn the_worst_factor_is_marked_and_every_figure_is_shown() {
    let report = report(&[timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier")]);
    let probe = "
        seen.worst = all('.worst').length;
        const worst = document.querySelector('.factor.worst');
        seen.name = worst.querySelector('.name').textContent;
        seen.width = worst.querySelector('.gauge > span').style.width;
        seen.strong = all('h1 em');
        seen.figures = all('.facts dt');";
    let Some(seen) = drawn(&report, probe) else { return };
    // 16.5 s of the threads' 17 s are left without serial code, 12.5 s without the barrier.
    assert_eq!((&seen["worst"], &seen["name"]), (&1.into(), &"load balance".into()));
    assert_eq!(seen["strong"], json!(["24 %", "solve, line 10, a<b.c:10"]));
    says(&seen, "76 %");
    says(&seen, "processor share");
    says(&seen, "To help: give the threads equal work before they meet");
    let document: Value = serde_json::from_str(&json::line(&report)).expect("JSON");
    let region = &document["processes"][0]["regions"][0];
    let shown = seen["figures"].as_array().expect("a list");
    for figure in FIGURES.iter().filter(|figure| region[figure.name].is_number()) {
        let name = figure.name.trim_end_matches("_s").replace('_', " ");
        assert!(shown.contains(&name.clone().into()), "{name}: {shown:?}");
    }
}

#[test]
fn threads_of_a_core_stand_in_a_bracket() {
    let threads = [spec(2.0, 0), spec(0.0, 2), spec(6.0, 1)];
    let report = report(&[timed(&threads, "critical")]);
    let probe = "
        seen.order = all('.panel .who b');
        seen.shared = all('.core.shared .core-name');
        const lock = Array.from(document.querySelectorAll('.panel .s-lock.part')).pop();
        seen.part = [lock.style.width, lock.title, lock.parentNode.getAttribute('aria-label')];
        seen.waits = all('.waits tbody tr:first-child > *');";
    // The last bar is of T1, which does not wait.
    let Some(seen) = drawn(&report, probe) else { return };
    assert_eq!(seen["order"], json!(["T0", "T2", "T1"]), "T2 is beside T0");
    assert_eq!(seen["shared"], json!(["core 0"]));
    let part = json!(["75%", "lock: 6.00 s, 75 %", "T2: useful 25 %, lock 75 %"]);
    assert_eq!(seen["part"], part);
    assert_eq!(seen["waits"], json!(["for a critical section, a<b.c:20", "15", "8.00 s", "33 %"]));
}

#[test]
fn processes_have_a_bar_each_and_few_have_details() {
    let one = timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier");
    let all: Vec<Recording> = (0..40)
        .map(|at| {
            let mut own = one.clone();
            own.process.pid = 100 + at;
            own
        })
        .collect();
    let probe = "
        seen.bars = count('table.processes .states');
        seen.links = count('table.processes a');
        seen.details = count('details.process');
        seen.open = count('details.process[open]');
        const later = document.getElementById('process-3');
        seen.before = later.querySelectorAll('section').length;
        later.open = true;
        later.fill();
        seen.after = later.querySelectorAll('section').length;";
    let Some(seen) = drawn(&report(&all), probe) else { return };
    let numbers = ["bars", "links", "details", "open", "before"].map(|name| seen[name].as_u64());
    assert_eq!(numbers, [40, 16, 16, 1, 0].map(Some));
    assert!(seen["after"].as_u64() > Some(3), "{seen}");
    says(&seen, "Details are of the first 16; JSON and CSV have those of 24 more.");
}

#[test]
fn ranks_stand_in_their_order_with_their_regions() {
    let rank = |number: u32| {
        let mut one = timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier");
        one.process.pid = 100 - number;
        one.process.rank = Some(pacman_regions::Rank { rank: number, ranks: Some(3) });
        one.process.host = Some("node<1>".into());
        one
    };
    let mut report = report(&[rank(2), rank(0), rank(1)]);
    // As for many ranks, of which some have a line alone.
    report.processes.truncate(2);
    let probe = "
        seen.order = all('table.processes tbody th');
        seen.ranks = all('table.ranks tbody tr:first-child td');";
    for size in SIZES {
        let Some(seen) = open(&super::of(&report), size, probe) else { return };
        let order = json!([
            "rank 0x, process 100, node<1>",
            "rank 1x, process 99, node<1>",
            "rank 2process 98, node<1>"
        ]);
        assert_eq!((&seen["order"], &seen["overflow"]), (&order, &0.into()));
        says(&seen, "Details are of the first 2; JSON and CSV have those of 1 more.");
        // 8 s in each of three ranks.
        let first = ["0", "1", "2", "3"]
            .map(|at| seen["ranks"][at.parse::<usize>().expect("a place")].clone());
        assert_eq!(first[..3], ["3", "3", "8.00 s"].map(Value::from));
    }
}

/// A table of thousands of regions would be of no use.
#[test]
fn the_regions_with_most_time_have_rows() {
    let report = report(&[recording(5000)]);
    let probe = "seen.rows = count('table.regions tbody tr');";
    let Some(seen) = drawn(&report, probe) else { return };
    assert_eq!(seen["rows"], 500);
    says(&seen, "4,500 regions with less time are in the JSON report only.");
}

fn row(region: usize, thread_seconds: &[f64]) -> TimelineRow {
    let seconds = thread_seconds.iter().map(|time| time.min(1.0)).collect();
    TimelineRow { region, seconds, thread_seconds: thread_seconds.to_vec() }
}

const PICTURE: &str = "
    seen.box = (document.querySelector('.timeline svg') || document.body).getAttribute('viewBox');
    seen.areas = Array.from(document.querySelectorAll('path.area'), area => area.getAttribute('d'));
    seen.titles = all('path.area title');";

#[test]
fn areas_stand_on_each_other_and_end_with_the_process() {
    let mut recording = recording(2);
    recording.timeline.rows = vec![row(0, &[4.0, 2.0]), row(1, &[0.0, 1.0])];
    let Some(seen) = drawn(&report(&[recording]), PICTURE) else { return };
    assert_eq!(seen["box"], "0 0 4 100", "4 s in bins of 1 s");
    // From the top left corner along the upper edge, back along the lower one; 4 threads high.
    let below = "M0 0.00H1V50.00H2V100.00H0Z";
    let above = "M0 0.00H1V25.00H2V100.00H2V50.00H1V0.00H0Z";
    assert_eq!(seen["areas"], json!([below, above]));
}

#[test]
fn regions_beyond_the_colours_are_one_area_and_bins_are_few() {
    let mut recording = recording(11);
    recording.process.seconds = 1000.0;
    recording.timeline.rows = (0..11).map(|at| row(at, &[0.5; 1000])).collect();
    let report = report(&[recording]);
    let document = json::line(&report);
    let condensed = super::condense::within(document.as_bytes(), 50_000).expect("JSON");
    assert_ne!(condensed, document.as_bytes());
    let whole = super::of(&report);
    let short = super::with(&condensed).expect("a page");
    for page in [whole, short] {
        let Some(seen) = open(&page, (1280, 800), PICTURE) else { return };
        assert_eq!(seen["areas"].as_array().map(Vec::len), Some(9));
        assert_eq!(seen["titles"][8], "3 other regions");
        assert_eq!(seen["box"], "0 0 500 100", "two bins in one");
    }
}

#[test]
fn no_timeline_is_said() {
    let Some(seen) = drawn(&report(&[recording(1)]), "") else { return };
    says(&seen, "too short for a timeline");
}

#[test]
fn counts_carry_their_marks() {
    let mut recording = made::with_phase(timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier"));
    for row in &mut recording.regions[0].rows {
        row.counts = vec![Some(1_000_000_000)];
    }
    let mut document: Value =
        serde_json::from_str(&json::line(&report(&[recording]))).expect("JSON");
    let figures = &mut document["processes"][0]["regions"][0]["figures"];
    for (member, value) in [("reading_shares", 0.75), ("counted_shares", 0.25), ("margins", 2e7)] {
        figures[member] = json!({"task-clock": value});
    }
    figures["complete"] = false.into();
    let page = super::with(document.to_string().as_bytes()).expect("a page");
    let Some(seen) = open(&page, (1280, 800), "seen.count = all('.counts tbody td')[0];") else {
        return;
    };
    let count = seen["count"].as_str().expect("text");
    assert!(count.starts_with(">=2.00 s! ±20.0 ms (25.0%)"), "{count}");
}
