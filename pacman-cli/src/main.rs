//! The command `pacman-pmu`.

mod events;

use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Per-thread hardware performance counters on SMT cores.
#[derive(Parser)]
#[command(name = "pacman-pmu", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(events::ListArgs),
    Encode(events::EncodeArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let done = match &cli.command {
        Command::List(args) => events::list(args, &events::Here, &mut out),
        Command::Encode(args) => events::encode(args, &events::Here, &mut out),
    };
    match done.and_then(|status| out.flush().map(|()| status)) {
        Ok(status) => ExitCode::from(status),
        // A reader that went away, such as head, has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pacman-pmu: cannot write: {error}");
            ExitCode::FAILURE
        }
    }
}
