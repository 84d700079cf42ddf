//! CSV, read back by a strict reader of its own and by the `csv` crate.

use proptest::prelude::*;

use super::{assert_snapshot, specimen};
use crate::export;
use crate::report::EventSetRotation;
use crate::report::Stat;
use crate::report::{CountReport, LoggedSample, Report};

fn text(report: &Report) -> String {
    let mut text = Vec::new();
    export::csv(report, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn log_text(report: &Report) -> String {
    let mut text = Vec::new();
    export::csv_log(report, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Rows of fields: `None` is an empty field without quotes.
type Rows = Vec<Vec<Option<String>>>;

/// Reads RFC 4180 strictly, with line feeds. Quotes stand only around a whole field and are doubled
/// within. All rows have the same length, and the last line is ended.
fn read(text: &str) -> Rows {
    let mut rows = Rows::new();
    let mut row = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let field;
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut value = String::new();
            let mut inside = quoted;
            loop {
                let quote = inside.find('"').expect("a quoted field ends");
                value.push_str(&inside[..quote]);
                inside = &inside[quote + 1..];
                match inside.strip_prefix('"') {
                    Some(more) => {
                        value.push('"');
                        inside = more;
                    }
                    None => break,
                }
            }
            field = Some(value);
            rest = inside;
        } else {
            let end = rest.find([',', '\n']).expect("the last line ends");
            assert!(!rest[..end].contains(['"', '\r']), "must be quoted: {:?}", &rest[..end]);
            field = Some(rest[..end].to_string()).filter(|field| !field.is_empty());
            rest = &rest[end..];
        }
        row.push(field);
        if let Some(next) = rest.strip_prefix(',') {
            rest = next;
        } else {
            rest = rest.strip_prefix('\n').expect("a field ends at a comma or a line's end");
            rows.push(std::mem::take(&mut row));
        }
    }
    assert!(row.is_empty(), "a comma at the end of the text");
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "rows are of equal length");
    let plain: Vec<Vec<&str>> =
        rows.iter().map(|row| row.iter().map(|it| it.as_deref().unwrap_or("")).collect()).collect();
    assert_eq!(records(text), plain, "the csv crate reads the same");
    rows
}

/// The rows that the `csv` crate reads: it does not tell an empty text from an absent value.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records = reader.records().map(|record| record.expect("rows of equal length, in UTF-8"));
    records.map(|record| record.iter().map(str::to_owned).collect()).collect()
}

/// The field of a row by its column's name.
fn field<'a>(rows: &'a Rows, row: usize, column: &str) -> Option<&'a str> {
    let at = rows[0].iter().position(|name| name.as_deref() == Some(column));
    rows[row][at.unwrap_or_else(|| panic!("no column {column}"))].as_deref()
}

fn number(rows: &Rows, row: usize, column: &str) -> Option<u64> {
    field(rows, row, column).map(|field| field.parse().unwrap())
}

#[test]
fn the_texts_read_as_before() {
    assert_snapshot("server.csv", &text(&specimen::server()));
    assert_snapshot("scaled.csv", &text(&specimen::scaled()));
    assert_snapshot("troubled-log.csv", &log_text(&specimen::troubled()));
}

#[test]
fn rows_go_by_phase_then_thread() {
    let rows = read(&text(&specimen::server()));
    assert_eq!(rows.len(), 1 + 1 + 4 + 4);
    let who: Vec<(Option<&str>, Option<u64>)> = (1..rows.len())
        .map(|row| (field(&rows, row, "phase"), number(&rows, row, "thread")))
        .collect();
    assert_eq!(who[0], (Some("init"), Some(0)));
    assert_eq!(who[4], (Some("triad"), Some(3)));
    assert_eq!(who[5], (Some("reduce, \"tree\""), Some(0)));
}

#[test]
fn absent_is_empty_and_zero_is_zero() {
    let rows = read(&text(&specimen::troubled()));
    let (never, unfinished, zero) = (1, 2, 3);
    assert_eq!(number(&rows, never, "executions"), Some(5));
    assert_eq!(number(&rows, never, "CYCLES [cycles]"), None);
    assert_eq!(number(&rows, never, "CYCLES min [cycles]"), None);
    assert_eq!(number(&rows, never, "CYCLES enabled [ns]"), Some(50_000_000));
    assert_eq!(number(&rows, never, "CYCLES running [ns]"), Some(0));
    assert_eq!(number(&rows, unfinished, "executions"), Some(0));
    assert_eq!(number(&rows, unfinished, "time_ns"), None);
    assert_eq!(number(&rows, unfinished, "cpu"), None);
    assert_eq!(number(&rows, zero, "CYCLES [cycles]"), Some(0));
    assert_eq!(number(&rows, zero, "CYCLES scaled [cycles]"), None);
    assert_eq!(number(&rows, zero, "CYCLES enabled [ns]"), None);
}

#[test]
fn empty_text_is_not_an_absent_value() {
    let mut report = specimen::scaled();
    report.threads[0].name = Some(String::new());
    report.threads[1].name = None;
    let rows = read(&text(&report));
    assert_eq!(field(&rows, 1, "thread_name"), Some(""));
    assert_eq!(field(&rows, 2, "thread_name"), None);
}

#[test]
fn a_report_without_threads_is_a_header() {
    let report = specimen::report("idle", Vec::new(), &["never"]);
    assert_eq!(read(&text(&report)).len(), 1);
    assert_eq!(read(&log_text(&report)).len(), 1);
}

proptest! {
    #[test]
    fn names_and_values_read_back_as_they_were(
        names in prop::collection::vec(any::<String>(), 4),
        // The characters that quoting is about, close together.
        hard in "[,\"\r\n a]{0,8}",
        values in prop::collection::vec(any::<u64>(), 8),
        running in 0..=100u64,
    ) {
        let event = format!("{}{hard}", names[1]);
        let mut report = specimen::report(&names[0], vec![specimen::event(&event, "u")], &[&hard]);
        report.simulated = true;
        let mut thread = specimen::thread(3, Some(specimen::place(0, 1, 2, 3)));
        thread.name = Some(names[2].clone());
        let mut row = specimen::row(0, values[0].max(1), values[1], &[]);
        let raw = Stat { sum: values[2], min: values[3], max: values[4] };
        let count = CountReport::new(raw, [1, 1], [running, 100]);
        row.counts.push(count);
        thread.phases.push(row.clone());
        let (begin, end) = (values[5].min(values[6]), values[5].max(values[6]));
        thread.log.push(LoggedSample { phase: 0, begin, end, set: 0, counts: vec![values[7]] });
        report.threads.push(thread);

        let rows = read(&text(&report));
        prop_assert_eq!(rows.len(), 2);
        prop_assert_eq!(field(&rows, 1, "session"), Some(&*names[0]));
        prop_assert_eq!(field(&rows, 1, "simulated"), Some("true"));
        prop_assert_eq!(field(&rows, 1, "phase"), Some(&*hard));
        prop_assert_eq!(field(&rows, 1, "thread_name"), Some(&*names[2]));
        prop_assert_eq!(number(&rows, 1, "sibling"), Some(2));
        prop_assert_eq!(number(&rows, 1, "executions"), Some(row.executions));
        prop_assert_eq!(number(&rows, 1, "time_ns"), Some(values[1]));
        let counted = running > 0;
        let column = |part: &str| number(&rows, 1, &format!("{event}{part} [u]"));
        prop_assert_eq!(column(""), counted.then_some(raw.sum));
        prop_assert_eq!(column(" min"), counted.then_some(raw.min));
        prop_assert_eq!(column(" max"), counted.then_some(raw.max));
        prop_assert_eq!(column(" scaled"), count.scaled);
        prop_assert_eq!(number(&rows, 1, &format!("{event} running [ns]")), Some(running));

        let rows = read(&log_text(&report));
        prop_assert_eq!(rows.len(), 2);
        prop_assert_eq!(number(&rows, 1, "time_ns"), Some(end - begin));
        prop_assert_eq!(field(&rows, 1, "phase"), Some(&*hard));
        prop_assert_eq!(number(&rows, 1, &format!("{event} [u]")), Some(values[7]));
    }
}

#[test]
fn samples_and_sets_stand_beside_counts() {
    let report = specimen::rotate_event_sets(EventSetRotation::PerExecution);
    let text = text(&report);
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let of = |row: usize, name: &str| rows[row][at(name)];
    assert_eq!(of(0, "CACHE_MISSES [accesses]"), "12000");
    assert_eq!(of(0, "CACHE_MISSES scaled [accesses]"), "20000");
    assert_eq!(of(0, "CACHE_MISSES samples [executions]"), "3");
    assert_eq!(of(0, "CACHE_MISSES set [number]"), "0");
    assert_eq!(of(0, "BRANCH_MISSES set [number]"), "1");
    assert_eq!(of(0, "CYCLES samples [executions]"), "5");
    assert_eq!(of(0, "CYCLES set [number]"), "", "every set has it");
    assert_eq!(of(1, "CACHE_MISSES [accesses]"), "", "never a zero that was not counted");
    assert_eq!(of(1, "CACHE_MISSES samples [executions]"), "0");
    let log = log_text(&report);
    let logged: Vec<&str> =
        log.lines().skip(1).map(|line| line.split_once(",work,").unwrap().1).collect();
    assert_eq!(logged, ["10,35,25,0,7,8,9,", "40,55,15,1,1,,2,3"]);
}
