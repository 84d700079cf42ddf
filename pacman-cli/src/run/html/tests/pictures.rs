//! Tree and bars, of runs whose figures are known.

use super::made::{ThreadSpec, recording, report, timed};
use crate::run::html::{detail, processes, regions, tree};
use crate::run::report::ProcessReport;

fn spec(waits: f64, cpu: u32) -> ThreadSpec {
    ThreadSpec { busy: 8.0, start: 0.0, waits, cpu }
}

#[test]
fn the_worst_factor_is_marked() {
    let report = report(&[timed(&[spec(4.0, 0), spec(0.0, 2)], "barrier")]);
    let tree = tree::section(report.parallel().next().expect("it has regions"));
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
    let panel = detail::section(report.parallel().next().expect("it has regions"), 0);
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
    let all: Vec<&ProcessReport> = report.parallel().collect();
    let overview = processes::overview(&all);
    assert_eq!(overview.matches("class=\"states\"").count(), 40);
    assert_eq!(overview.matches("href=\"#process-").count(), 16);
    assert!(overview.contains("Details are of the first 16 of 40 processes"), "{overview}");
    assert_eq!(processes::overview(&all[..1]), "");
    let page = super::super::write(&report);
    assert_eq!(page.matches("<details class=\"process\"").count(), 16);
}

/// A page of thousands of regions would be too large for a browser.
#[test]
fn many_regions_have_rows_and_few_have_panels() {
    let report = report(&[recording(600)]);
    let process = report.parallel().next().expect("it has regions");
    let panels = detail::section(process, 0);
    assert_eq!(panels.matches("<article ").count(), 40);
    assert!(panels.contains("560 more regions have rows in the table only"), "{panels}");
    let table = regions::section(process, 0);
    assert_eq!(table.matches("<tr>").count(), 501);
    assert!(table.contains("100 regions with less time are in JSON and CSV only"), "{table}");
}
