//! Tree and bars, of runs whose figures are known.

use crate::run::html::{detail, processes, regions, tree};
use crate::run::made::{ThreadSpec, recording, report, timed};
use crate::run::report::ProcessReport;

fn spec(waits: f64, cpu: u32) -> ThreadSpec {
    ThreadSpec { busy: 8.0, start: 0.0, waits, cpu }
}

#[test]
fn the_worst_factor_is_marked() {
    let report = report(&[timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier")]);
    let tree = tree::section(report.observed().next().expect("it has regions"));
    assert_eq!(tree.matches("worst\">").count(), 1, "{tree}");
    // 16.5 s of the threads' 17 s are left without serial code, 12.5 s without the barrier.
    let worst = "<li class=\"factor worst\"><span class=\"name\">load balance</span>\
                 <span class=\"gauge\"><span style=\"width:75.76%\"></span></span><b>76 %</b>";
    assert!(tree.contains(worst), "{tree}");
    assert!(tree.contains("processor share") && tree.contains("<b>99 %</b>"), "{tree}");
}

#[test]
fn threads_of_a_core_stand_in_a_bracket() {
    let threads = [spec(2.0, 0), spec(0.0, 2), spec(6.0, 1)];
    let report = report(&[timed(&threads, "critical")]);
    let panel = detail::section(report.observed().next().expect("it has regions"), 0);
    let order: Vec<usize> = ["core 0", "<b>T0</b>", "<b>T2</b>", "<b>T1</b>"]
        .iter()
        .map(|part| panel.find(part).expect(part))
        .collect();
    assert!(order.is_sorted(), "T2 is beside T0: {panel}");
    assert_eq!(panel.matches("<li class=\"core shared\">").count(), 1);
    let lock = "<span class=\"part s-lock\" style=\"width:75.00%\" title=\"lock: 6.00 s, 75 %\">";
    assert!(
        panel.contains(lock) && panel.contains("aria-label=\"T2: useful 25 %, lock 75 %\""),
        "{panel}"
    );
    let row =
        "<th scope=\"row\">for a critical section, a&lt;b.c:20</th><td>15</td><td>8.00 s</td>";
    assert!(panel.contains(row), "{panel}");
}

#[test]
fn processes_have_a_bar_each_and_few_have_details() {
    let one = timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier");
    let report = report(&vec![one; 40]);
    let all: Vec<&ProcessReport> = report.observed().collect();
    let overview = processes::overview(&report, &all);
    assert_eq!(overview.matches("class=\"states\"").count(), 40);
    assert_eq!(overview.matches("href=\"#process-").count(), 16);
    assert!(overview.contains("of the first 16; JSON and CSV have those of 24 more"), "{overview}");
    assert_eq!(processes::overview(&report, &all[..1]), "");
    let page = super::super::write(&report);
    assert_eq!(page.matches("<details class=\"process\"").count(), 16);
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
    report.left_out = 1;
    let all: Vec<&ProcessReport> = report.observed().collect();
    let overview = processes::overview(&report, &all);
    let order = [">rank 0</a>", ">rank 1</a>", ">rank 2<small>process 98, node&lt;1&gt;"];
    let order: Vec<usize> = order.iter().map(|part| overview.find(part).expect(part)).collect();
    assert!(order.is_sorted(), "{overview}");
    assert!(overview.contains("of the first 2; JSON and CSV have those of 1 more"), "{overview}");
    assert!(overview.contains("<h2>Regions in all ranks</h2>"), "{overview}");
    // 8 s in each of three ranks.
    assert!(overview.contains("<td>3</td><td data-v=\"3\">3</td><td data-v=\"8\">8.00 s</td>"));
}

/// A page of thousands of regions would be too large for a browser.
#[test]
fn many_regions_have_rows_and_few_have_panels() {
    let report = report(&[recording(600)]);
    let process = report.observed().next().expect("it has regions");
    let panels = detail::section(process, 0);
    assert_eq!(panels.matches("<article ").count(), 40);
    assert!(panels.contains("560 more regions have rows in the table only"), "{panels}");
    let table = regions::section(process, 0);
    assert_eq!(table.matches("<tr>").count(), 501);
    assert!(table.contains("100 regions with less time are in JSON and CSV only"), "{table}");
}
