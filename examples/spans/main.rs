//! The spans of a program as phases: two threads that parse and sort, each with its own counts.
//!
//!     cargo run --release -p spans
//!     PACMAN_MACHINE=zen4 cargo run --release -p spans CYCLES,INSTRUCTIONS

use std::error::Error;

use pacman_core::{Session, export};
use pacman_tracing::PhaseLayer;
use tracing::{info_span, instrument};
use tracing_subscriber::prelude::*;

#[instrument(skip_all)]
fn parse(lines: &[String]) -> Vec<u64> {
    lines.iter().filter_map(|line| line.parse().ok()).collect()
}

#[instrument(skip_all)]
fn sort(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

fn main() -> Result<(), Box<dyn Error>> {
    pacman_sim::install()?;
    let events = std::env::args().nth(1).unwrap_or_else(|| "task-clock,page-faults".to_owned());
    let session = Session::builder("spans").events(events).start()?;
    let layer = PhaseLayer::new(&session);
    let failures = layer.failures();
    tracing_subscriber::registry().with(layer).init();
    let work = |factor: u64| {
        let _request = info_span!("request", factor).entered();
        let lines = |number: u64| (number.wrapping_mul(factor) % 1_000_003).to_string();
        let lines: Vec<String> = (0..200_000).map(lines).collect();
        sort(parse(&lines)).len()
    };
    std::thread::scope(|scope| {
        for factor in [7_919, 104_729] {
            scope.spawn(move || work(factor));
        }
    });
    export::table(&session.report(), &Default::default(), &mut std::io::stdout())?;
    match failures.first() {
        None => Ok(()),
        Some(first) => Err(format!("{} spans were not counted: {first}", failures.count()).into()),
    }
}
