//! Whole contexts: both siblings counted from one thread, until one is gone.

use std::fs;

use pacman_core::session::SystemWide;
use pacman_core::{Binding, Result, Session, Topology};

use crate::doorbell::known_loop;

const ITERATIONS: u64 = 10_000_000;

/// Prints a line a context and phase, "row CPU PHASE COUNT", and its notes.
pub(crate) fn run() -> Result<()> {
    let here = Topology::detect()?;
    let cpus = here.allowed();
    let events = Session::builder("wide").events("INSTRUCTIONS");
    let mut all = events.system_wide(&cpus)?;
    for cpu in cpus.iter() {
        let bound = Binding::bind(&here, &here.place(cpu)?)?;
        let on = all.phase(&format!("on-{cpu}"))?;
        all.begin(on)?;
        known_loop(ITERATIONS);
        all.end(on)?;
        drop(bound);
    }
    let gone = all.phase("gone")?;
    all.begin(gone)?;
    switch("/sys/devices/system/cpu/cpu1/online", "0");
    known_loop(ITERATIONS);
    all.end(gone)?;
    let after = all.phase("after")?;
    all.begin(after)?;
    all.end(after)?;
    print("gone", &all);
    let offline = Session::builder("offline").events("INSTRUCTIONS").system_wide(&cpus);
    println!("refused {}", offline.expect_err("one of them is offline"));
    switch("/sys/devices/system/cpu/cpu1/online", "1");

    // Away and back within one phase: the kernel answers reads as if nothing had been.
    let mut all = Session::builder("back").events("INSTRUCTIONS").system_wide(&cpus)?;
    let back = all.phase("back")?;
    all.begin(back)?;
    switch("/sys/devices/system/cpu/cpu1/online", "0");
    known_loop(ITERATIONS);
    switch("/sys/devices/system/cpu/cpu1/online", "1");
    known_loop(ITERATIONS);
    all.end(back)?;
    print("back", &all);

    // On Arm since Linux 6.16.
    if cfg!(target_arch = "aarch64") {
        return Ok(());
    }
    let mut all = Session::builder("smt").events("INSTRUCTIONS").system_wide(&cpus)?;
    switch("/sys/devices/system/cpu/smt/control", "off");
    for sample in all.sample() {
        println!("smt {}", sample.map_or_else(|error| error.to_string(), |_| "counts".into()));
    }
    Ok(())
}

fn print(which: &str, all: &SystemWide) {
    let report = all.report();
    for row in &report.threads {
        let cpu = row.place.expect("a context is a place").cpu;
        // A phase that was only begun is there as well, with no execution.
        for phase in row.phases.iter().filter(|phase| phase.executions > 0) {
            let count = phase.counts[0].raw.sum;
            println!("row {cpu} {} {count}", report.phases[phase.phase]);
        }
        for note in &row.notes {
            println!("note {which} {cpu} {note}");
        }
    }
}

fn switch(file: &str, value: &str) {
    fs::write(file, value).expect("the lab's guest is root");
}
