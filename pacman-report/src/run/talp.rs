//! The report in the form of DLB's TALP, version 3.6, which TALP-Pages makes pages of.
//!
//! A member whose value is not known is left out. TALP-Pages reads no file without `cycles` and `instructions`: these
//! are 0 without counts, as in TALP's own files.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::report::{Losses, MpiFactors, ProcessReport, RegionReport, Report};
use crate::document;

/// Writes the file of these processes.
pub(super) fn stream<P: Borrow<ProcessReport>>(
    report: &Report,
    processes: impl Iterator<Item = P>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut sums = Sums::default();
    processes.for_each(|process| sums.add(process.borrow()));
    document::write(out, &sums.document(report))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    dlb_version: String,
    timestamp: String,
    resources: Resources,
    #[serde(rename = "Application")]
    application: Map<String, Value>,
    /// TALP has no such member, and TALP-Pages reads on.
    notes: Vec<&'a str>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resources {
    num_cpus: u64,
    num_nodes: u64,
    num_mpi_ranks: u64,
}

/// A region of TALP: the whole program, or a parallel region. Times are nanoseconds of all threads together.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(flatten)]
    resources: Resources,
    cycles: u64,
    instructions: u64,
    num_measurements: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_mpi_calls: Option<u64>,
    num_omp_parallels: u64,
    elapsed_time: u64,
    #[serde(flatten)]
    times: Option<Times>,
    #[serde(flatten)]
    mpi: Option<MpiEfficiency>,
    #[serde(flatten)]
    efficiency: Option<OmpEfficiency>,
}

/// Seconds of all threads, written as nanoseconds: useful, and lost by reason.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Times {
    #[serde(serialize_with = "in_nanoseconds")]
    useful_time: f64,
    #[serde(serialize_with = "in_nanoseconds")]
    mpi_time: f64,
    #[serde(serialize_with = "in_nanoseconds")]
    omp_load_imbalance_time: f64,
    #[serde(serialize_with = "in_nanoseconds")]
    omp_scheduling_time: f64,
    #[serde(serialize_with = "in_nanoseconds")]
    omp_serialization_time: f64,
}

fn in_nanoseconds<S: Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(nanoseconds(*seconds))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MpiEfficiency {
    mpi_parallel_efficiency: f64,
    mpi_communication_efficiency: f64,
    mpi_load_balance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mpi_load_balance_in: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mpi_load_balance_out: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OmpEfficiency {
    parallel_efficiency: f64,
    omp_parallel_efficiency: f64,
    omp_load_balance: f64,
    omp_scheduling_efficiency: f64,
    omp_serialization_efficiency: f64,
}

impl Times {
    fn of(serial: f64, losses: &Losses) -> Times {
        let Losses { there, mpi, uneven, common, .. } = *losses;
        Times {
            useful_time: (there - mpi - uneven - common).max(0.0),
            mpi_time: mpi,
            omp_load_imbalance_time: uneven,
            omp_scheduling_time: common,
            omp_serialization_time: serial.max(0.0),
        }
    }

    fn add(&mut self, other: &Times) {
        self.useful_time += other.useful_time;
        self.mpi_time += other.mpi_time;
        self.omp_load_imbalance_time += other.omp_load_imbalance_time;
        self.omp_scheduling_time += other.omp_scheduling_time;
        self.omp_serialization_time += other.omp_serialization_time;
    }

    /// DLB's formulas, in which time in MPI is useful to OpenMP.
    fn efficiency(&self) -> Option<OmpEfficiency> {
        let (works, serial) = (self.useful_time + self.mpi_time, self.omp_serialization_time);
        let balanced = works + serial + self.omp_load_imbalance_time;
        let all = balanced + self.omp_scheduling_time;
        let part = |above: f64, below: f64| if below > 0.0 { rounded(above / below) } else { 1.0 };
        (all > 0.0).then(|| OmpEfficiency {
            parallel_efficiency: part(self.useful_time, all),
            omp_parallel_efficiency: part(works, all),
            omp_load_balance: part(works + serial, balanced),
            omp_scheduling_efficiency: part(balanced, all),
            omp_serialization_efficiency: part(works, works + serial),
        })
    }
}

/// The sums over all processes, of the program or of a region.
#[derive(Debug)]
struct Sum {
    cpus: u64,
    ranks: u64,
    hosts: BTreeSet<Option<String>>,
    /// Of the process with the longest.
    elapsed: f64,
    measurements: u64,
    parallels: u64,
    /// `None` if a process does not know its own.
    times: Option<Times>,
    /// Cycles and instructions of useful time.
    counts: Option<(u64, u64)>,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum {
            cpus: 0,
            ranks: 0,
            hosts: BTreeSet::new(),
            elapsed: 0.0,
            measurements: 0,
            parallels: 0,
            times: Some(Times::default()),
            counts: Some((0, 0)),
        }
    }
}

impl Sum {
    fn add(&mut self, process: &ProcessReport, threads: u32, elapsed: f64, of: Option<Times>) {
        self.cpus += u64::from(threads);
        self.ranks += u64::from(process.process.rank.is_some());
        self.hosts.insert(process.process.host.clone());
        self.elapsed = self.elapsed.max(elapsed);
        self.times = self.times.zip(of).map(|(mut sum, own)| {
            sum.add(&own);
            sum
        });
    }

    fn resources(&self) -> Resources {
        let num_nodes = self.hosts.len() as u64;
        Resources { num_cpus: self.cpus, num_nodes, num_mpi_ranks: self.ranks }
    }

    fn entry(&self, mpi_calls: Option<u64>, mpi: Option<MpiEfficiency>) -> Value {
        let (cycles, instructions) = self.counts.unwrap_or((0, 0));
        let entry = Entry {
            resources: self.resources(),
            cycles,
            instructions,
            num_measurements: self.measurements,
            num_mpi_calls: mpi_calls,
            num_omp_parallels: self.parallels,
            elapsed_time: nanoseconds(self.elapsed),
            times: self.times,
            mpi,
            efficiency: self.times.and_then(|times| times.efficiency()),
        };
        serde_json::to_value(entry).expect("names are strings")
    }
}

/// The program, and its regions by name.
#[derive(Debug, Default)]
struct Sums {
    whole: Sum,
    regions: BTreeMap<String, Sum>,
}

impl Sums {
    fn add(&mut self, process: &ProcessReport) {
        // A shell may start the program: its time is not the program's.
        if !process.has_figures() && process.mpi.is_none() {
            return;
        }
        let tree = process.efficiency.as_ref().filter(|tree| tree.margin <= 0.5);
        let threads = tree.map_or(process.threads, |tree| tree.threads);
        let times = tree.map(|tree| Times::of(tree.serial, &tree.losses));
        self.whole.add(process, threads, process.process.seconds, times);
        self.whole.measurements += 1;
        // Counters run in regions alone.
        self.whole.counts = None;
        for region in &process.regions {
            self.whole.parallels += region.executions;
            // TALP's name for the program.
            let name = match region.name.text.as_str() {
                WHOLE => format!("region {WHOLE}"),
                name => name.to_owned(),
            };
            let sum = self.regions.entry(name).or_default();
            let threads = region.teams.iter().map(|team| team.threads).max().unwrap_or(1);
            let states = region
                .states
                .as_ref()
                .filter(|_| region.sampling.is_none_or(|sampling| sampling.margin <= 0.5));
            let times = states.map(|states| Times::of(0.0, &states.losses));
            sum.add(process, threads, region.seconds, times);
            sum.measurements += region.executions;
            sum.parallels += region.executions;
            sum.counts = sum
                .counts
                .zip(counts(process, region))
                .map(|(sum, own)| (sum.0.saturating_add(own.0), sum.1.saturating_add(own.1)));
        }
    }

    fn document<'a>(&self, report: &'a Report) -> Document<'a> {
        let calls = &report.overview.mpi;
        let uses_mpi = !calls.calls.is_empty();
        let mpi_calls = calls.calls.iter().map(|call| call.count + call.inside_count).sum();
        let mut application = Map::new();
        let mpi = match uses_mpi {
            true => MpiFactors::of(&calls.times).map(|of| over_processes(&of, calls.hosts.len())),
            false => Some(WITHOUT_MPI),
        };
        let known = self.whole.times.is_some();
        application.insert(WHOLE.into(), self.whole.entry(known.then_some(mpi_calls), mpi));
        for (name, region) in &self.regions {
            // How processes wait for each other in one region is not known.
            let mpi = (!uses_mpi).then_some(WITHOUT_MPI);
            application.insert(name.clone(), region.entry((!uses_mpi && known).then_some(0), mpi));
        }
        let mut notes = report.remarks();
        if !known {
            notes.push(UNKNOWN);
        }
        let version = &report.provenance.version;
        let simulated = report.simulated.as_ref();
        let simulated = simulated.map(|name| format!("; counts of the simulated machine {name}"));
        Document {
            dlb_version: format!("3.6.0 (pacman-pmu {version}{})", simulated.unwrap_or_default()),
            // Local times of TALP have no zone.
            timestamp: report.provenance.date().trim_end_matches('Z').into(),
            resources: self.whole.resources(),
            application,
            notes,
        }
    }
}

const UNKNOWN: &str = "the program has no efficiencies: its waits were not timed, were estimated too roughly, or several \
                       threads started regions; --waits times them, and --overhead 100 times each";

/// TALP's name for the program.
const WHOLE: &str = "Global";

/// Without MPI no time is lost to it.
const WITHOUT_MPI: MpiEfficiency = MpiEfficiency {
    mpi_parallel_efficiency: 1.0,
    mpi_communication_efficiency: 1.0,
    mpi_load_balance: 1.0,
    mpi_load_balance_in: Some(1.0),
    mpi_load_balance_out: Some(1.0),
};

fn over_processes(factors: &MpiFactors, hosts: usize) -> MpiEfficiency {
    let balance = rounded(factors.load_balance);
    let on_one = hosts <= 1;
    MpiEfficiency {
        mpi_parallel_efficiency: rounded(factors.mpi),
        mpi_communication_efficiency: rounded(factors.communication),
        mpi_load_balance: balance,
        mpi_load_balance_in: on_one.then_some(balance),
        mpi_load_balance_out: on_one.then_some(1.0),
    }
}

/// Cycles and instructions of useful time.
fn counts(process: &ProcessReport, region: &RegionReport) -> Option<(u64, u64)> {
    let useful = &region.by_state.as_ref()?.useful;
    let count = |name: &str| {
        let at = process.columns.events.iter().position(|event| event.name == name)?;
        let count = useful.counts.get(at)?.as_ref()?;
        count.is_complete.then_some(count.value)
    };
    Some((count("CYCLES")?, count("INSTRUCTIONS")?))
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// TALP has two decimals, and more would be noise.
fn rounded(part: f64) -> f64 {
    (part * 1e4).round() / 1e4
}
