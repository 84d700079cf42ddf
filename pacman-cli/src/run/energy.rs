//! The energy of the packages from the start of the program to its end.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use pacman_adapt::{EnergyReading, Rapl};
use pacman_report::run::RunEnergy;

/// A counter of a package that takes 1 kW wraps in a minute at the earliest.
const STEP: Duration = Duration::from_secs(20);

/// Adds up energy until it is finished.
#[derive(Debug)]
pub(super) struct EnergyMeter {
    finish: Sender<()>,
    thread: JoinHandle<Result<RunEnergy, String>>,
}

impl EnergyMeter {
    /// Starts to add up. An error has the system's message.
    pub(super) fn start(rapl: Rapl) -> Result<EnergyMeter, String> {
        let first = rapl.read().map_err(|error| error.to_string())?;
        let (finish, finished) = mpsc::channel();
        let sum = move || {
            let mut sum = Sum { latest: first, joules: 0.0, begun: Instant::now() };
            while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(STEP) {
                sum.advance(&rapl)?;
            }
            sum.advance(&rapl)?;
            let seconds = sum.begun.elapsed().as_secs_f64();
            let (source, packages) = (rapl.source().to_owned(), rapl.packages());
            Ok(RunEnergy { joules: sum.joules, seconds, source, packages })
        };
        let thread = Builder::new().name("energy".into()).spawn(sum);
        let thread = thread.map_err(|error| format!("cannot read energy in a thread: {error}"))?;
        Ok(EnergyMeter { finish, thread })
    }

    /// The energy since the start.
    ///
    /// # Errors
    /// The first reading that failed.
    pub(super) fn finish(self) -> Result<RunEnergy, String> {
        // A thread whose reading failed waits no longer.
        let _ = self.finish.send(());
        self.thread.join().unwrap_or_else(|_| Err("the thread that reads energy panicked".into()))
    }
}

struct Sum {
    latest: EnergyReading,
    joules: f64,
    begun: Instant,
}

impl Sum {
    fn advance(&mut self, rapl: &Rapl) -> Result<(), String> {
        let now = rapl.read().map_err(|error| error.to_string())?;
        self.joules += now.joules_since(&self.latest).map_err(|error| error.to_string())?;
        self.latest = now;
        Ok(())
    }
}
