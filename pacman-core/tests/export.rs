//! A real session's report, exported to real files and pipes.

use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixStream;

use pacman_core::export::{self, TableStyle};
use pacman_core::{Report, Session};

/// Two threads, two phases, one of them on both threads; the first log is too short.
fn report(name: &str) -> Report {
    let builder = Session::builder(name).events("task-clock,page-faults");
    let session = builder.log(4).start().unwrap();
    let (fill, sum) = (session.phase("fill").unwrap(), session.phase("sum, \"all\"").unwrap());
    let work = || {
        let thread = session.attach().unwrap();
        for _ in 0..3 {
            let data = thread.run(fill, || std::hint::black_box(vec![1u8; 1 << 22])).unwrap();
            if thread.number() == 0 {
                let total = || data.iter().map(|&byte| u64::from(byte)).sum::<u64>();
                assert_eq!(thread.run(sum, total).unwrap(), 1 << 22);
            }
        }
    };
    std::thread::scope(|scope| {
        for number in 0..2 {
            let worker = std::thread::Builder::new().name(format!("worker-{number}"));
            worker.spawn_scoped(scope, work).unwrap().join().unwrap();
        }
    });
    session.report()
}

#[test]
fn json_says_what_the_report_says() {
    let report = report("export-json");
    let mut text = Vec::new();
    export::json(&report, &mut text).unwrap();
    let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(read["events"][0]["name"], "task-clock");
    assert_eq!(read["threads"].as_array().unwrap().len(), 2);
    for (thread, read) in report.threads.iter().zip(read["threads"].as_array().unwrap()) {
        assert_eq!(read["tid"], thread.tid);
        assert_eq!(read["state"], "detached");
        assert_eq!(read["phases"].as_array().unwrap().len(), thread.phases.len());
        for (row, read) in thread.phases.iter().zip(read["phases"].as_array().unwrap()) {
            assert_eq!(read["executions"], 3);
            assert_eq!(read["time_ns"]["sum"], row.time.sum);
            let clock = row.counts[0].value().expect("a software clock always runs");
            assert!(clock > 0);
            assert_eq!(read["counts"][0]["value"], clock);
        }
    }
    assert_eq!(read["threads"][0]["log"].as_array().unwrap().len(), 4);
    assert_eq!(read["threads"][0]["log_dropped"], 2);
}

#[test]
fn csv_has_a_row_for_each_phase_and_thread_and_sample() {
    let report = report("export-csv");
    let mut text = Vec::new();
    export::csv(&report, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.lines().count(), 1 + 3);
    assert_eq!(text.matches(",\"sum, \"\"all\"\"\",0,").count(), 1);
    let mut log = Vec::new();
    export::csv_log(&report, &mut log).unwrap();
    assert_eq!(String::from_utf8(log).unwrap().lines().count(), 1 + 4 + 3);
}

#[test]
fn the_table_shows_every_thread_and_what_the_log_lost() {
    let report = report("export-table");
    let mut text = Vec::new();
    export::table(&report, &TableStyle::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("session \"export-table\", 2 threads"), "{text}");
    assert!(text.contains("-- sum, \"all\" --"), "{text}");
    assert!(text.contains("1 worker-1"), "{text}");
    assert!(text.contains("thread 0: log full, 2 samples dropped from it"), "{text}");
    assert!(!text.contains('\x1b'), "no colour unless asked: {text}");
}

#[test]
fn a_reader_that_has_gone_is_a_broken_pipe() {
    let report = report("export-gone");
    type Export = fn(&Report, &mut dyn Write) -> std::io::Result<()>;
    let exports: [Export; 4] = [
        |report, out| export::table(report, &TableStyle::default(), out),
        export::csv,
        export::csv_log,
        export::json,
    ];
    for export in exports {
        let (mut out, reader) = UnixStream::pair().unwrap();
        drop(reader);
        assert_eq!(export(&report, &mut out).unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
