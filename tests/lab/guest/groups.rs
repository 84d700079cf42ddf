//! Groups of events: what the allocator says of them, and what the kernel does.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use pacman_core::backend::perf::{PerfBackend, Sharing};
use pacman_core::backend::{Backend, Reading, Target};
use pacman_core::event::machine;
use pacman_core::{Binding, Error, Event, Result, Topology};
use pacman_events::allocate::{EventConstraints, Pmu, allocate};
use pacman_events::encode::{Conditions, Kind, Rings};
use pacman_events::{AnyThread, CpuModel, Encoding, resolve};

const USER: Rings = Rings { user: true, kernel: false };
/// Groups drawn at random from the model's whole table.
const DRAWN: usize = 400;
const MORE: usize = if cfg!(target_arch = "aarch64") { 10 } else { 5 };
const WATCHDOG: &str = "/proc/sys/kernel/nmi_watchdog";

/// The group's answer by the plan, or by the kernel: why not, if not.
type Answer = std::result::Result<(), String>;

/// Prints a line for each named group and for each drawn one on which plan and kernel
/// disagree, first without and then with the NMI watchdog.
pub(crate) fn run() -> Result<()> {
    let here = Topology::detect()?;
    let _bound = Binding::bind(&here, &here.place(0)?)?;
    // Linux 6.1 has no NMI watchdog on Arm.
    let watchdogs: &[bool] = if cfg!(target_arch = "aarch64") { &[false] } else { &[false, true] };
    for &watchdog in watchdogs {
        let number = if watchdog { "1" } else { "0" };
        if watchdogs.len() > 1 {
            std::fs::write(WATCHDOG, number).expect("the lab's guest is root");
        }
        let pmu = Pmu::of(machine::model(), true);
        let pmu = if watchdog { pmu.with_watchdog() } else { pmu };
        named(&pmu, watchdog);
        drawn(&pmu, watchdog);
    }
    if watchdogs.len() > 1 {
        std::fs::write(WATCHDOG, "0").expect("the lab's guest is root");
    }
    if machine::model().facts().any_thread == AnyThread::Yes {
        unprivileged();
    }
    Ok(())
}

fn planned(pmu: &Pmu, names: &[&str]) -> Answer {
    let mut demands = Vec::new();
    for name in names {
        let resolved = resolve(machine::model(), name).map_err(|refusal| refusal.to_string())?;
        demands
            .extend(resolved.terms().map(|term| EventConstraints::of(&term.encoding, pmu, USER)));
    }
    allocate(pmu, &demands).map(drop).map_err(|conflict| conflict.to_string())
}

fn scheduled(names: &[&str]) -> Answer {
    count(names).map_err(|error| format!("{:?}: {error}", error.kind()))
}

/// Opens the group and reads it once.
fn count(names: &[&str]) -> Result<(), Error> {
    let events = names.iter().map(|name| name.parse()).collect::<Result<Vec<Event>>>()?;
    let counters = PerfBackend::new(&events, Sharing::Pinned)?.open(Target::Caller)?;
    counters.read(&mut Reading::EMPTY.clone())
}

/// Groups whose answer can be told from the manual.
fn named(pmu: &Pmu, watchdog: bool) {
    for line in include_str!("groups.tsv").lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [models, events, expected, expected_watched] = fields[..] else {
            panic!("four fields in {line:?}")
        };
        if !models.split(',').any(|name| name == machine::model().name()) {
            continue;
        }
        let names: Vec<&str> = events.split(' ').collect();
        let expected = if watchdog { expected_watched } else { expected };
        let (plan, kernel) = (planned(pmu, &names), scheduled(&names));
        println!("named {} {} {expected} {events}", word(&plan), word(&kernel),);
        if let Err(why) = kernel {
            println!("named-why {watchdog} {why}");
        }
    }
}

fn word(answer: &Answer) -> &'static str {
    if answer.is_ok() { "fits" } else { "refused" }
}

/// Groups of two to six events drawn from the table, on Arm of up to eleven, scarce counters preferred.
fn drawn(pmu: &Pmu, watchdog: bool) {
    let cpu = machine::model();
    let (scarce, plenty): (Vec<String>, Vec<String>) = {
        let usable = cpu.events().filter_map(|event| usable(cpu, &event.name()));
        let (scarce, plenty): (Vec<Encoding>, Vec<Encoding>) =
            usable.partition(|encoding| is_scarce(cpu, encoding));
        let names = |list: Vec<Encoding>| list.iter().map(|it| it.name.to_string()).collect();
        (names(scarce), names(plenty))
    };
    let mut random = Random(0x5eed);
    let (mut agreed, mut fitting) = (0, 0);
    for _ in 0..DRAWN {
        let mut names: Vec<&str> = Vec::new();
        while names.len() < 2 + random.below(MORE) {
            let list = if random.below(2) == 0 && !scarce.is_empty() { &scarce } else { &plenty };
            let name = list[random.below(list.len())].as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let (plan, kernel) = (planned(pmu, &names), scheduled(&names));
        if plan.is_ok() == kernel.is_ok() {
            agreed += 1;
            fitting += usize::from(plan.is_ok());
        } else {
            let why = plan.as_ref().err().or(kernel.as_ref().err()).expect("one refuses");
            println!("disagree {} {} {} {why}", word(&plan), word(&kernel), names.join(" "));
        }
    }
    let (scarce, plenty) = (scarce.len(), plenty.len());
    println!("drawn {watchdog} {DRAWN} {agreed} {fitting} {scarce} {plenty}");
}

/// An event of which the allocator and the kernel know the same rules.
fn usable(cpu: CpuModel, name: &str) -> Option<Encoding> {
    let here = Conditions { smt: true, privileged: true, tagged: false };
    let resolved = resolve(cpu, name).ok()?;
    let encoding = resolved.encoding().filter(|encoding| encoding.admit(here).is_ok())?;
    // Linux takes INST_RETIRED.ANY and ANY_P for one event, cycles too, and counts them on
    // a fixed or a general counter; the tables have two, as the presets know.
    let on_two_kinds =
        cfg!(target_arch = "x86_64") && matches!(encoding.perf?.config & 0xffff, 0xc0 | 0x3c);
    // perfmon's rule that an event must be alone is unknown to Linux.
    let alone = encoding.limits.taken_alone;
    // Skylake's table has an off-core event that lacks the register's value.
    let valueless = matches!(encoding.perf?.config, 0x1b7 | 0x1bb) && encoding.extra.is_none();
    // Nor has the lab more than three fixed counters.
    let fixed = cfg!(target_arch = "x86_64") && encoding.fixed.is_some_and(|number| number >= 3);
    (!on_two_kinds && !alone && !valueless && !fixed).then(|| encoding.clone())
}

fn is_scarce(cpu: CpuModel, encoding: &Encoding) -> bool {
    encoding.kind == Kind::Fixed
        || encoding.extra.is_some()
        || encoding.counters != cpu.facts().general
}

/// Marsaglia's xorshift: the same groups in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// An event that counts the sibling too, asked for by nobody in particular.
fn unprivileged() {
    const NOBODY: u32 = 65_534;
    // The lab's root directory is root's alone.
    std::fs::set_permissions("/", PermissionsExt::from_mode(0o755)).expect("the guest is root");
    let own = std::env::current_exe().expect("a program");
    let done = Command::new(own).arg("any-thread").uid(NOBODY).gid(NOBODY).output();
    print!("{}", String::from_utf8_lossy(&done.expect("it starts").stdout));
}

/// The job of [`unprivileged`]'s child.
pub(crate) fn any_thread() -> Result<()> {
    let name = "CYCLES:any";
    let resolved = resolve(machine::model(), name).expect("a model with AnyThread");
    let encoding = resolved.encoding().expect("one event");
    let here = Conditions { smt: true, privileged: false, tagged: false };
    let plan = encoding.admit(here).map_err(|refusal| refusal.to_string());
    println!("any-thread {} {}", word(&plan), word(&scheduled(&["CYCLES"])));
    for answer in [plan, scheduled(&[name])] {
        println!("any-thread-why {}", answer.err().unwrap_or_default());
    }
    Ok(())
}
