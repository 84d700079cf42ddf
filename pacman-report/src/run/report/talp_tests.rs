//! The efficiency tree beside that of DLB's TALP, of times that TALP measured on clusters.
//!
//! TALP's OpenMP factors count time in MPI as useful, and DLB 3.5a takes scheduling from the time first
//! and serialization last. Its guide has our order, so exchanging the two gives DLB's factors.

use std::path::Path;
use std::{env, fs};

use serde_json::Value;

use super::efficiency::Efficiency;
use super::mpi_factors::{MpiFactors, ProcessTime};
use super::states::Losses;

/// A region as TALP reports it: times of all CPUs.
struct Reported {
    name: String,
    useful: f64,
    mpi: f64,
    uneven: f64,
    scheduling: f64,
    serial: f64,
    /// The serialization that the processes of the same file have.
    serial_by_process: f64,
    mpi_of_most_useful: f64,
    useful_by_process: Vec<f64>,
    /// DLB's efficiencies, by [`EFFICIENCIES`].
    dlb: [f64; 8],
}

/// The members of TALP's files, in the order of the table's columns.
const EFFICIENCIES: [&str; 8] = [
    "parallelEfficiency",
    "ompParallelEfficiency",
    "ompSerializationEfficiency",
    "ompLoadBalance",
    "ompSchedulingEfficiency",
    "mpiParallelEfficiency",
    "mpiLoadBalance",
    "mpiCommunicationEfficiency",
];

impl Reported {
    /// Of a region whose threads lose `common` together in regions, and `serial` outside of them.
    fn tree(&self, mpi_is_useful: bool, common: f64, serial: f64) -> Efficiency {
        let there = self.useful + self.mpi + self.uneven + common;
        let mpi = if mpi_is_useful { 0.0 } else { self.mpi };
        let losses = Losses { there, mpi, uneven: self.uneven, common, ..Losses::default() };
        Efficiency::of(serial, &losses).expect("time passed")
    }

    /// TALP has the MPI time of the process that is useful for longest.
    fn over_processes(&self) -> MpiFactors {
        let most = self.useful_by_process.iter().copied().fold(0.0, f64::max);
        let seconds = most + self.mpi_of_most_useful;
        let times = self.useful_by_process.iter();
        let time =
            |&useful: &f64| ProcessTime { seconds, mpi: seconds - useful, useful: Some(useful) };
        MpiFactors::of(&times.map(time).collect::<Vec<_>>()).expect("several processes")
    }

    /// Our values of [`EFFICIENCIES`], of the times that stand beside DLB's.
    fn ours(&self) -> [f64; 8] {
        let whole = self.tree(false, self.scheduling, self.serial);
        let exchanged = self.tree(true, self.serial, self.scheduling);
        let over = self.over_processes();
        [
            whole.parallel,
            exchanged.parallel,
            exchanged.scheduling,
            exchanged.load_balance,
            exchanged.serialization,
            over.mpi,
            over.load_balance,
            over.communication,
        ]
    }

    /// All factors equal DLB's, which have two decimals.
    fn check(&self) {
        for ((name, ours), dlb) in EFFICIENCIES.iter().zip(self.ours()).zip(self.dlb) {
            assert!((ours - dlb).abs() <= 0.005, "{name} of {}: {ours}, DLB {dlb}", self.name);
        }
        // The order of the factors changes no product.
        let here = self.tree(true, self.scheduling, self.serial);
        let product = here.serialization * here.load_balance * here.scheduling;
        assert!((product - here.parallel).abs() < 1e-9, "{}: {here:?}", self.name);
    }

    /// The parallel efficiency with the serialization that the processes have.
    fn corrected(&self) -> f64 {
        self.tree(false, self.scheduling, self.serial_by_process).parallel
    }
}

/// The regions of the table.
fn table() -> Vec<Reported> {
    let mut lines = include_str!("talp.tsv").lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next().map(|header| header.split('\t').count()), Some(19));
    let region = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{text}: {line}"));
        let numbers: Vec<f64> = cells[3..10].iter().copied().map(number).collect();
        let [useful, mpi, uneven, scheduling, serial, serial_by_process, mpi_of_most_useful] =
            numbers[..]
        else {
            panic!("7 times are due: {line}")
        };
        let dlb: Vec<f64> = cells[11..].iter().copied().map(number).collect();
        Reported {
            name: format!("{} {}", cells[0], cells[1]),
            useful,
            mpi,
            uneven,
            scheduling,
            serial,
            serial_by_process,
            mpi_of_most_useful,
            useful_by_process: cells[10].split(';').map(number).collect(),
            dlb: dlb.try_into().expect("8 efficiencies"),
        }
    };
    lines.map(region).collect()
}

/// The regions of a file of TALP.
fn of_file(path: &Path) -> Vec<Reported> {
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let regions = file["region"].as_array().unwrap().iter().map(|region| {
        let name = region["name"].as_str().unwrap();
        let whole = &file["Application"][name];
        let time = |member: &str| whole[member].as_f64().unwrap_or_else(|| panic!("{member}"));
        let processes = region["process"].as_array().unwrap();
        let cpus = time("numCpus") / processes.len() as f64;
        let of_processes =
            |member: &str| processes.iter().map(|one| one[member].as_f64().unwrap()).collect();
        let serial: Vec<f64> = of_processes("notUsefulOMPSerialization");
        let useful: Vec<f64> = of_processes("useful");
        Reported {
            name: format!("{} {name}", path.display()),
            useful: time("usefulTime"),
            mpi: time("mpiTime"),
            uneven: time("ompLoadImbalanceTime"),
            scheduling: time("ompSchedulingTime"),
            serial: time("ompSerializationTime"),
            serial_by_process: serial.iter().sum(),
            mpi_of_most_useful: time("mpiNormdOfMaxUseful"),
            useful_by_process: useful.iter().map(|useful| useful / cpus).collect(),
            dlb: EFFICIENCIES.map(time),
        }
    });
    regions.collect()
}

#[test]
fn the_factors_are_those_of_dlb_on_the_times_that_dlb_has() {
    let rows = table();
    let genex = rows.iter().filter(|row| !row.name.starts_with("two-ranks"));
    assert_eq!(genex.map(Reported::check).count(), 16);
}

/// DLB 3.5a reports the scheduling time as serialization, too. The processes have the true one.
#[test]
fn dlb_reports_scheduling_as_serialization_and_so_too_good_an_efficiency() {
    let mut found = Vec::new();
    for row in table().iter().filter(|row| !row.name.starts_with("two-ranks")) {
        assert!((row.serial - row.scheduling).abs() < 1.0, "{}", row.name);
        if let Some(run) = row.name.strip_suffix(" Application") {
            let (dlb, corrected) = (row.dlb[0], (row.corrected() * 1000.0).round() / 1000.0);
            found.push((run.to_owned(), dlb, corrected));
        }
    }
    let expected = [
        ("small", 0.93, 0.560),
        ("bigger", 0.94, 0.408),
        ("biggerer", 0.93, 0.569),
        ("4x56", 0.96, 0.645),
    ];
    assert_eq!(found, expected.map(|(run, dlb, ours)| (run.to_owned(), dlb, ours)));
}

/// Somebody set its efficiencies to 1; its times are real.
#[test]
fn efficiencies_that_were_set_by_hand_do_not_agree_with_their_times() {
    let rows = table();
    let row = rows.iter().find(|row| row.name.starts_with("two-ranks")).expect("it is there");
    assert_eq!(row.dlb, [1.0; 8]);
    let [parallel, .., mpi, balance, communication] = row.ours();
    for (ours, expected) in
        [(parallel, 0.6256), (mpi, 0.6256), (balance, 0.6256), (communication, 0.9999)]
    {
        assert!((ours - expected).abs() < 1e-4, "{ours}, {expected}");
    }
}

/// All regions of the whole files, in the folder that `PACMAN_DATA` names.
#[test]
fn all_regions_of_the_whole_files_have_the_factors_of_dlb() {
    let folder = env::var_os("PACMAN_DATA").map(|folder| Path::new(&folder).join("talp-examples"));
    let Some(folder) = folder.filter(|folder| folder.exists()) else {
        pacman_suite::skipped("no data");
        return;
    };
    let mut regions = 0;
    for run in ["small", "bigger", "biggerer", "4x56"] {
        for region in of_file(&folder.join(format!("genex.{run}.json"))) {
            region.check();
            regions += 1;
        }
    }
    assert_eq!(regions, 132);
}
