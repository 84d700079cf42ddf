//! The lab's machines, each booted once for all of its jobs: a boot takes longer than most jobs.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use pacman_suite::lab;

use super::{
    by_registers, energy, nodes, omp, probes, processors, rates, registers, slots, smt, stat,
    turns, validate,
};

/// The lab's options of a machine.
pub(crate) type Options = &'static [&'static str];

pub(crate) const HASWELL: Options = &["--cpu", "core"];
pub(crate) const NEHALEM: Options = &["--cpu", "core", "--model", "Nehalem"];
pub(crate) const SANDY_BRIDGE: Options = &["--cpu", "core", "--model", "SandyBridge"];
pub(crate) const SKYLAKE: Options = &["--cpu", "core", "--model", "Skylake-Client"];
pub(crate) const ICE_LAKE: Options = &["--model", "icelake"];
pub(crate) const SAPPHIRE_RAPIDS: Options = &["--model", "sapphirerapids"];
/// A hybrid: a performance core of two threads and two efficient cores.
pub(crate) const ALDER_LAKE: Options = &["--model", "alderlake"];
/// Slots of dispatch, and six counters.
pub(crate) const ZEN_4: Options = &["--model", "zen4"];
pub(crate) const ZEN: Options = &["--cpu", "amd"];
pub(crate) const PENTIUM_4: Options = &["--cpu", "p4"];
pub(crate) const WITHOUT_PMU: Options = &["--cpu", "none"];
/// Haswell with its SMT off.
pub(crate) const SMT_OFF: Options =
    &["--cpu", "core", "--gp", "8", "--smp", "2,sockets=1,cores=2,threads=1"];
/// Two packages of two cores without siblings.
pub(crate) const TWO_PACKAGES: Options =
    &["--cpu", "none", "--smp", "4,sockets=2,cores=2,threads=1"];
/// Cycles follow time; the reference clock is the bus's 100 MHz.
pub(crate) const TIMED_HASWELL: Options = &["--cpu", "core", "--time", "--xclk-ratio", "10"];
pub(crate) const TIMED_NEHALEM: Options = &["--cpu", "core", "--time", "--model", "Nehalem"];

/// A busy machine's boots take several times as long as an idle one's.
pub(crate) const LIMIT: [&str; 2] = ["--timeout", "900"];

/// The output of a job, on both streams, and its exit status.
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) text: String,
}

struct Machine {
    options: Options,
    jobs: Vec<Job>,
    booted: OnceLock<()>,
}

struct Job {
    line: String,
    said: OnceLock<Said>,
}

/// Every machine, the longest boot first, so that the last ones end together. On each, the jobs
/// that program registers come after those of the kernel's driver, a job that switches SMT off
/// last, and a validation first: it wants every repeat exact, and after a boot that is always the
/// same the kernel's ticks meet none of its readings, which a tick lengthens.
fn machines() -> &'static [Machine] {
    static MACHINES: OnceLock<Vec<Machine>> = OnceLock::new();
    MACHINES.get_or_init(|| {
        let model = || guest("model");
        let threads = || stat::line(stat::THREADS);
        let mut machines = vec![
            machine(
                HASWELL,
                vec![
                    validate::line(validate::EVERYWHERE),
                    model(),
                    guest("siblings"),
                    guest("forked"),
                    guest("foreign closed"),
                    guest("foreign replaced"),
                    guest("conflicts"),
                    threads(),
                    stat::line(stat::CONTEXTS),
                    omp::line(omp::TSC),
                    omp::on_siblings(),
                    rates::line(),
                    energy::line(),
                    validate::busy_line(validate::SWITCHED),
                    guest(&turns::job("per-execution", "kernel")),
                    guest(&turns::job("staggered", "kernel")),
                    guest(&turns::job("staggered", "registers")),
                    guest(&registers::job(registers::OF_HASWELL)),
                    guest("wide"),
                ],
            ),
            machine(
                PENTIUM_4,
                vec![
                    validate::line(validate::BETWEEN_SWITCHES),
                    validate::busy_line(validate::SWITCHED_AND_TRUSTED),
                    by_registers::STAT.to_owned(),
                    guest("by-registers"),
                    guest("unplaced"),
                    guest("unprivileged"),
                    guest("whole"),
                    guest("halves"),
                    guest("netburst"),
                ],
            ),
            machine(TIMED_HASWELL, vec![smt::timetable(), smt::unprivileged()]),
            machine(TIMED_NEHALEM, vec![smt::timetable()]),
            machine(SANDY_BRIDGE, vec![model()]),
            machine(SKYLAKE, vec![model()]),
            machine(ICE_LAKE, vec![model(), guest("topdown"), guest("flags")]),
            machine(SAPPHIRE_RAPIDS, vec![guest("topdown")]),
            machine(ZEN_4, Vec::new()),
            machine(NEHALEM, vec![model(), guest(&registers::job(registers::OF_NEHALEM))]),
            machine(
                ZEN,
                vec![
                    validate::line(validate::EVERYWHERE),
                    model(),
                    guest("siblings"),
                    threads(),
                    energy::line(),
                    guest(&registers::job(registers::OF_ZEN)),
                ],
            ),
            machine(ALDER_LAKE, vec![guest("hybrid")]),
            machine(WITHOUT_PMU, vec![validate::line(validate::WITHOUT_PMU)]),
            machine(SMT_OFF, vec![guest("eight")]),
            machine(TWO_PACKAGES, vec![nodes::line("near"), nodes::line("far")]),
        ];
        for processor in &processors::PROCESSORS {
            let mut lines = vec![processors::BOOT.to_owned()];
            lines.extend(processor.probes.iter().map(|probe| probes::job(probe)));
            // Some of the list have jobs of other tests, too.
            match machines.iter_mut().find(|it| it.options == processor.options) {
                Some(known) => known.jobs.extend(lines.into_iter().map(job)),
                None => machines.push(machine(processor.options, lines)),
            }
        }
        // Last, because they leave rates at the doorbell of every context.
        for (options, kind) in
            [(SKYLAKE, "core"), (ICE_LAKE, "intel"), (SAPPHIRE_RAPIDS, "intel"), (ZEN_4, "zen")]
        {
            let known = machines.iter_mut().find(|it| it.options == options);
            known.expect("it is listed above").jobs.push(job(slots::line(kind)));
        }
        for options in probes::NARROW {
            machines.push(machine(options, vec![probes::NARROW_JOB.to_owned()]));
        }
        machines
    })
}

/// A job of the lab's guest program.
pub(crate) fn guest(job: &str) -> String {
    format!("/t/lab-guest {job}")
}

fn machine(options: Options, lines: Vec<String>) -> Machine {
    Machine { options, jobs: lines.into_iter().map(job).collect(), booted: OnceLock::new() }
}

fn job(line: String) -> Job {
    Job { line, said: OnceLock::new() }
}

/// The output of a job on a machine; `None` where there is no lab.
///
/// # Panics
/// If [`machines`] does not have the job.
pub(crate) fn said(options: Options, line: &str) -> Option<&'static Said> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if !lab::is_there() {
        return None;
    }
    let wanted = machines().iter().find(|machine| machine.options == options);
    let wanted = wanted.unwrap_or_else(|| panic!("boots.rs has no machine {options:?}"));
    let job = wanted.jobs.iter().find(|job| job.line == line);
    let job = job.unwrap_or_else(|| panic!("boots.rs has no job {line:?} for {options:?}"));
    if !every_test_runs() {
        return Some(
            job.said.get_or_init(|| boot(options, &[line]).pop().expect("an answer a job")),
        );
    }
    // Whoever would wait for a machine boots the next one meanwhile.
    while wanted.booted.get().is_none() {
        let Some(next) = machines().get(NEXT.fetch_add(1, Ordering::Relaxed)) else { break };
        next.boot();
    }
    wanted.boot();
    Some(job.said.get().expect("every job of a booted machine has an answer"))
}

/// Whether the test program was started without a filter.
fn every_test_runs() -> bool {
    std::env::args()
        .skip(1)
        .all(|argument| ["--nocapture", "--show-output", "-q"].contains(&argument.as_str()))
}

impl Machine {
    fn boot(&self) {
        self.booted.get_or_init(|| {
            let lines: Vec<&str> = self.jobs.iter().map(|job| job.line.as_str()).collect();
            for (job, said) in self.jobs.iter().zip(boot(self.options, &lines)) {
                job.said.get_or_init(|| said);
            }
        });
    }
}

/// The lab's message about a guest that came as far as its first job. On a host with ten threads for
/// each of its cores an emulated kernel once panicked before it had started any program; what
/// panics behind that is a job's affair, and stays.
fn started(options: &[&str], script: &str, programs: &[&Path]) -> Output {
    const BOOTS: usize = 3;
    let mut boots = 0;
    loop {
        let output = lab::shell(options, script, programs);
        boots += 1;
        let console = String::from_utf8_lossy(&output.stderr);
        let is_started = String::from_utf8_lossy(&output.stdout).contains("JOB 0\n");
        if is_started || boots == BOOTS || !console.contains("Kernel panic") {
            return output;
        }
        eprintln!("lab {options:?}: boot {boots} ended in a kernel panic before the first job");
    }
}

/// Boots a machine and runs each line.
///
/// The hybrid machine is alone on the host. Beside another guest one of its threads once took two
/// million instructions more than its loops, for a reason that is not known.
fn boot(options: Options, lines: &[&str]) -> Vec<Said> {
    static OTHERS: RwLock<()> = RwLock::new(());
    let is_alone = options == ALDER_LAKE;
    let _alone = is_alone.then(|| OTHERS.write().unwrap_or_else(PoisonError::into_inner));
    let _beside = (!is_alone).then(|| OTHERS.read().unwrap_or_else(PoisonError::into_inner));
    answers(lines, |script| {
        let programs = programs(script);
        let programs: Vec<_> = programs.iter().map(|program| program.as_path()).collect();
        started(&[options, &LIMIT].concat(), script, &programs)
    })
}

/// The programs that a script names.
fn programs(script: &str) -> Vec<PathBuf> {
    let wants = |program: &str| script.contains(&format!("/t/{program} "));
    let mut programs = Vec::new();
    programs.extend(wants("lab-guest").then(lab::guest));
    programs.extend(wants("pacman-pmu").then(lab::pacman_pmu));
    let wanted = probes::PROBES.iter().filter(|probe| wants(probe));
    programs.extend(wanted.map(|probe| probes::program(probe)));
    if wants("lab-regions") {
        programs.extend(omp::program().map(Path::to_path_buf));
    }
    if wants("lab-energy") {
        programs.extend(energy::program().map(Path::to_path_buf));
    }
    if wants("lab-rates") {
        programs.extend(rates::program().map(Path::to_path_buf));
    }
    if wants("lab-slots") {
        programs.extend(slots::program().map(Path::to_path_buf));
    }
    if wants("lab-nodes") {
        programs.extend(nodes::program().map(Path::to_path_buf));
    }
    if ["lab-regions", "lab-energy", "lab-nodes", "lab-rates", "lab-slots"].into_iter().any(wants) {
        programs.extend(lab::libpacman_omp());
    }
    programs
}

/// Gives a machine one script, which runs each line in a shell of its own, and tells the answers apart.
pub(crate) fn answers(lines: &[&str], boot: impl FnOnce(&str) -> Output) -> Vec<Said> {
    let framed = |(number, line): (usize, &&str)| {
        format!("echo JOB {number}; ( {line} ); status=$?; echo; echo END {number} $status; ")
    };
    let script: String = lines.iter().enumerate().map(framed).collect();
    let output = boot(&script);
    let all = String::from_utf8_lossy(&output.stdout);
    let answer = |number: usize| {
        let rest = all.split_once(&format!("JOB {number}\n"))?.1;
        let (text, status) = rest.split_once(&format!("\nEND {number} "))?;
        let status = status.lines().next()?.parse().ok()?;
        Some(Said { status, text: text.to_owned() })
    };
    let lost = || {
        let console = String::from_utf8_lossy(&output.stderr);
        Said { status: -1, text: format!("the guest ended before this job did:\n{all}{console}") }
    };
    (0..lines.len()).map(|number| answer(number).unwrap_or_else(lost)).collect()
}
