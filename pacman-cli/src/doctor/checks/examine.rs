//! The examination: its trials, their order and the conclusions.

use pacman_core::Error;
use pacman_core::backend::perf::{Kernel, PerfPermissions, PerfSys, UserReads};
use pacman_core::backend::{Caps, NoUserReads, ReadPath};
use pacman_events::CpuModel;

use pacman_core::event::Event;
use pacman_core::platform::{self, CoreTypePmu, PlatformRef};

use super::cause::{Cause, Circumstances, Scope};
use super::diagnosis::{Diagnosis, Verdict};
use super::finding::{Check, Finding, Outcome};
use super::hypervisor;
use super::limits;
use super::recorder::Recorder;
use super::surroundings::Limits;
use super::trial::{self, Counted};

/// Hardware events in the order in which programs want them: the first that
/// work make the group.
const HARDWARE: [&str; 7] = [
    "INSTRUCTIONS",
    "CYCLES",
    "BRANCHES",
    "BRANCH_MISSES",
    "CACHE_REFERENCES",
    "CACHE_MISSES",
    "REF_CYCLES",
];

/// The events that cannot stay at zero while a program runs.
const ALWAYS_COUNT: [&str; 2] = ["INSTRUCTIONS", "CYCLES"];

/// The most events that are tried in one group.
const GROUP: usize = 4;

impl Diagnosis {
    /// Examines this process on this machine: opens events for the calling
    /// thread, and closes them again.
    ///
    /// On a simulated machine its kernel is examined, among surroundings without limits; no help
    /// is given there, for a command would change the real machine.
    pub(crate) fn examine() -> Diagnosis {
        Diagnosis::examine_on(platform::current())
    }

    /// As [`examine`](Self::examine), on a machine that need not be the one that the process counts on.
    pub(crate) fn examine_on(platform: &PlatformRef) -> Diagnosis {
        let permissions = platform.permissions();
        let Some(sys) = platform.perf() else {
            return Diagnosis::examine_with(Kernel, &permissions, &Limits::read());
        };
        let mut diagnosis =
            Diagnosis::examine_with(sys, &permissions, &Limits::unlimited(platform));
        diagnosis.findings.iter_mut().for_each(|finding| finding.help.clear());
        diagnosis
    }

    /// As [`examine`](Self::examine), on another kernel seam and other facts.
    pub(crate) fn examine_with<S: PerfSys + Clone>(
        sys: S,
        permissions: &PerfPermissions,
        surroundings: &Limits,
    ) -> Diagnosis {
        examine(sys, permissions, surroundings)
    }
}

fn examine<S: PerfSys + Clone>(
    sys: S,
    permissions: &PerfPermissions,
    around: &Limits,
) -> Diagnosis {
    let sys = Recorder::new(sys);
    let refused = trial::refusal(&sys);
    let examination = Examination { sys, facts: Circumstances { permissions, around, refused } };
    examination.run()
}

struct Examination<'a, S: PerfSys + Clone> {
    sys: Recorder<S>,
    facts: Circumstances<'a>,
}

/// One event, tried alone.
struct Single {
    event: Event,
    /// Its count over a little work.
    result: Result<u64, (Cause, Scope)>,
}

impl<S: PerfSys + Clone> Examination<'_, S> {
    fn run(&self) -> Diagnosis {
        let hardware = self.hardware();
        let software: Vec<Single> = Event::software_names().map(|name| self.single(name)).collect();
        let countable: Vec<Event> =
            hardware.iter().filter(|s| s.result.is_ok()).map(|s| s.event.clone()).collect();

        let verdict = if !countable.is_empty() {
            Verdict::Hardware
        } else if software.iter().any(|single| single.result.is_ok()) {
            Verdict::SoftwareOnly
        } else {
            Verdict::Nothing
        };
        let group = self.group(&countable);
        let mut findings = vec![
            self.system_call(),
            self.summary(Check::HardwareEvents, &hardware),
            group.0,
            self.kernel_mode(&countable),
            self.user_reads(&countable[..group.1]),
            self.summary(Check::SoftwareEvents, &software),
            self.ledgers(),
            limits::descriptors(&self.facts),
        ];
        if !countable.is_empty() {
            findings.extend(limits::locked_memory(&self.facts));
        }
        findings.extend(limits::facts(&self.facts, self.virtual_counters(countable.first())));
        Diagnosis { verdict, findings }
    }

    /// Every hardware event, tried alone. A zero is a fair count of branch
    /// misses, but not on a PMU on which instructions do not count either.
    fn hardware(&self) -> Vec<Single> {
        let mut singles: Vec<Single> = HARDWARE.iter().map(|name| self.single(name)).collect();
        let silent = |s: &Single| matches!(s.result, Err((Cause::SilentPmu, _)));
        if singles.iter().any(silent) {
            for single in singles.iter_mut().filter(|single| single.result == Ok(0)) {
                single.result = Err((Cause::SilentPmu, trial::asks(&single.event)));
            }
        }
        singles
    }

    fn count(&self, events: &[Event]) -> pacman_core::Result<Counted> {
        trial::count(&self.sys, self.facts.permissions, events)
    }

    /// The kernel's generic event: what its driver can do, whatever the model.
    fn generic(&self, name: &str) -> pacman_core::Result<Event> {
        let generic = |pmu: &CoreTypePmu| {
            CoreTypePmu::new(pmu.name(), pmu.number(), CpuModel::generic(), pmu.cpus().clone())
        };
        match self.facts.around.core_types.as_slice() {
            [] => Event::on(CpuModel::generic(), name),
            types => Event::on_core_types(&types.iter().map(generic).collect::<Vec<_>>(), name),
        }
    }

    /// The processor's own event of this name, which a session counts.
    fn own(&self, name: &str) -> Option<Event> {
        match self.facts.around.core_types.as_slice() {
            [] => Event::on(self.facts.around.model?, name).ok(),
            types => Event::on_core_types(types, name).ok(),
        }
    }

    /// A driver may lack a generic event that the processor has: Linux 6.1 takes PC_WRITE_RETIRED for branches on Arm,
    /// which a Neoverse N1 lacks, although it has BR_RETIRED.
    fn single(&self, name: &str) -> Single {
        let generic =
            self.try_alone(name, self.generic(name).expect("a name of the library's own"));
        if !matches!(generic.result, Err((Cause::NotOffered, _))) {
            return generic;
        }
        let own = self.own(name).map(|event| self.try_alone(name, event));
        own.filter(|own| own.result.is_ok()).unwrap_or(generic)
    }

    fn try_alone(&self, name: &str, event: Event) -> Single {
        let asks = trial::asks(&event);
        let by_ledger = trial::has_ledger(&event) && !self.facts.permissions.may_count_kernel();
        let result = match self.count(std::slice::from_ref(&event)) {
            Ok(counted) => match counted.counts[0] {
                0 if ALWAYS_COUNT.contains(&name) => Err(Cause::SilentPmu),
                count => Ok(count),
            },
            Err(error) if by_ledger && !out_of_files(&error) => Err(Cause::NoLedger),
            Err(error) => Err(self.facts.cause(&error, asks)),
        };
        Single { event, result: result.map_err(|cause| (cause, asks)) }
    }

    fn system_call(&self) -> Finding {
        let tried = "called perf_event_open with a request too short to be one";
        let Some(errno) = self.facts.refused else {
            return Finding::works(Check::SystemCall, tried, "the system call reaches the kernel");
        };
        let cause = match errno {
            libc::ENOSYS if self.facts.permissions.paranoid.is_none() => Cause::NoPerfEvents,
            libc::ENOSYS => Cause::Seccomp,
            errno => self.facts.forbidder(errno, Scope::UserMode),
        };
        self.failure(Check::SystemCall, tried, cause, Scope::UserMode)
    }

    /// Events tried one at a time: those that count, and the others by cause.
    fn summary(&self, subject: Check, singles: &[Single]) -> Finding {
        let all: Vec<&str> = singles.iter().map(|single| single.event.name()).collect();
        let tried = format!("opened each alone for this thread: {}", all.join(", "));
        let working: Vec<&str> = singles
            .iter()
            .filter(|single| single.result.is_ok())
            .map(|single| single.event.name())
            .collect();
        let mut causes: Vec<(Cause, Scope, String, Vec<&str>)> = Vec::new();
        for single in singles {
            let Err((cause, asks)) = single.result else { continue };
            // One cause can ask for different things: levels of paranoia do.
            let why = self.facts.words(cause, asks);
            match causes.iter_mut().find(|known| known.2 == why) {
                Some(known) => known.3.push(single.event.name()),
                None => causes.push((cause, asks, why, vec![single.event.name()])),
            }
        }
        let Some(&(cause, asks, ..)) = causes.first() else {
            let text = format!("all {} count", all.len());
            return Finding::works(subject, &tried, text);
        };
        if working.is_empty() && causes.len() == 1 {
            return self.failure(subject, &tried, cause, asks);
        }
        let but: Vec<String> = causes
            .iter()
            .map(|(_, _, why, names)| format!("not {}: {why}", names.join(", ")))
            .collect();
        let text = match working.len() {
            0 => format!("none counts; {}", but.join("; ")),
            some => format!("{some} of {} count; {}", all.len(), but.join("; ")),
        };
        let mut finding = Finding::fails(subject, &tried, cause, text)
            .with_help(causes.iter().flat_map(|(c, a, ..)| self.facts.help(*c, *a)).collect());
        if !working.is_empty() {
            finding.outcome = Outcome::Works;
        }
        finding
    }

    /// The group, and how many of `countable` fit into it.
    fn group(&self, countable: &[Event]) -> (Finding, usize) {
        let most = countable.len().min(GROUP);
        let names: Vec<&str> = countable[..most].iter().map(Event::name).collect();
        let tried = format!("opened one exclusive group: {}", names.join(", "));
        if most < 2 {
            let text = match most {
                0 => self.facts.words(Cause::NotTried, Scope::UserMode),
                _ => "a single hardware event counts".into(),
            };
            let not = Finding::fails(Check::HardwareGroup, "nothing", Cause::NotTried, text);
            return (not, most);
        }
        let error = match self.count(&countable[..most]) {
            Ok(_) => {
                let text = match most {
                    1 => "one hardware event counts".to_owned(),
                    _ => format!("{most} hardware events count at once"),
                };
                return (Finding::works(Check::HardwareGroup, &tried, text), most);
            }
            Err(error) => error,
        };
        let cause = self.facts.cause(&error, Scope::UserMode);
        let fit = (1..most).rev().find(|n| self.count(&countable[..*n]).is_ok()).unwrap_or(0);
        let why = self.facts.words(cause, Scope::UserMode);
        let text = format!("only {fit} of {most} count at once: {why}");
        let finding = Finding::fails(Check::HardwareGroup, &tried, cause, text)
            .with_help(self.facts.help(cause, Scope::UserMode));
        (finding, fit)
    }

    fn kernel_mode(&self, countable: &[Event]) -> Finding {
        let subject = Check::KernelMode;
        let Some(event) = countable.first() else {
            return self.failure(subject, "nothing", Cause::NotTried, Scope::KernelMode);
        };
        let single = self.single(&format!("{}:k", event.name()));
        let tried = format!("opened {} for this thread", single.event.name());
        match single.result {
            Ok(_) => Finding::works(subject, &tried, "events in the kernel count too"),
            Err((cause, asks)) => self.failure(subject, &tried, cause, asks),
        }
    }

    fn user_reads(&self, events: &[Event]) -> Finding {
        let subject = Check::UserReads;
        if events.is_empty() {
            return self.failure(subject, "nothing", Cause::NotTried, Scope::UserMode);
        }
        let tried = format!(
            "mapped the counter page of {} and looked for the kernel's permission",
            if events.len() == 1 { "1 event" } else { "each event of the group" }
        );
        let _ = self.sys.take_unmapped();
        let path = self.count(events).map(|counted| counted.caps);
        let cause = match (path, self.sys.take_unmapped()) {
            (Ok(Caps { no_user_reads: Some(NoUserReads::OffCounters), .. }), _) => {
                Cause::CountersTaken
            }
            (Ok(Caps { no_user_reads: Some(_), .. }), _) => Cause::HiddenCounters,
            (Ok(caps), _) if caps.read_path == ReadPath::Rdpmc => {
                let width = caps.width.unwrap_or_default();
                let instruction = self.facts.instruction();
                let text =
                    format!("{instruction} reads {width}-bit counters without a system call");
                let finding = Finding::works(subject, &tried, text);
                return if self.facts.permissions.rdpmc == Some(2) {
                    let mut open = finding.with_help(vec![limits::rdpmc_for_all()]);
                    open.text.push_str("; every process may read every counter (rdpmc is 2)");
                    open
                } else {
                    finding
                };
            }
            (Err(error), _) => self.facts.cause(&error, Scope::UserMode),
            (Ok(_), _) if self.facts.permissions.user_reads == UserReads::Missing => {
                Cause::UnsupportedArchitecture
            }
            (Ok(_), _) if self.facts.permissions.is_hybrid() => Cause::HybridCores,
            (Ok(_), _) if self.facts.permissions.user_reads == UserReads::SwitchedOff => {
                Cause::UserAccessOff
            }
            (Ok(_), Some(errno)) if errno.0 == libc::EPERM => Cause::LockedMemory,
            (Ok(_), Some(errno)) => Cause::Unexplained(errno.0),
            (Ok(_), None) if self.facts.permissions.rdpmc == Some(0) => Cause::RdpmcOff,
            (Ok(_), None) => Cause::NotOffered,
        };
        let why = self.facts.words(cause, Scope::UserMode);
        let text = format!("every read takes a system call: {why}");
        let mut finding = Finding::fails(subject, &tried, cause, text);
        if cause == Cause::HybridCores {
            // Staying on one core type helps to count, not to read.
            finding.outcome = Outcome::Missing;
            return finding;
        }
        finding.with_help(self.facts.help(cause, Scope::UserMode))
    }

    /// The kind of the counters of KVM's guest.
    fn virtual_counters(&self, event: Option<&Event>) -> Option<String> {
        let facts = &self.facts;
        if !facts.permissions.virtual_machine || !facts.around.kvm_guest {
            return None;
        }
        let read = trial::read_time(&self.sys, facts.permissions, event?);
        Some(hypervisor::told(read, hypervisor::exit_time()))
    }

    /// The events that every unprivileged session counts without perf events.
    fn ledgers(&self) -> Finding {
        let (subject, tried) = (
            Check::Ledgers,
            "read getrusage(RUSAGE_THREAD) and /proc/thread-self/sched as an unprivileged session does",
        );
        let mut unprivileged = self.facts.permissions.clone();
        (unprivileged.paranoid, unprivileged.capability) = (Some(2), None);
        let count = |list| {
            let events = Event::parse_list(list).expect("names of the library's own");
            trial::count(&self.sys, &unprivileged, &events)
        };
        let why = |error: Error| {
            let asks = Scope::SoftwareInKernel;
            let files = out_of_files(&error);
            let cause = if files { self.facts.cause(&error, asks) } else { Cause::NoLedger };
            (cause, self.facts.words(cause, asks))
        };
        if let Err(error) = count("context-switches,page-faults,minor-faults,major-faults") {
            let (cause, words) = why(error);
            return Finding::fails(subject, tried, cause, words);
        }
        match count("cpu-migrations") {
            Ok(_) => Finding::works(
                subject,
                tried,
                "context switches, migrations and faults are known for every thread",
            ),
            Err(error) => {
                let (cause, words) = why(error);
                let text =
                    format!("context switches and faults are known, migrations not: {words}");
                let mut finding = Finding::fails(subject, tried, cause, text);
                finding.outcome = Outcome::Works;
                finding
            }
        }
    }

    fn failure(&self, subject: Check, tried: &str, cause: Cause, asks: Scope) -> Finding {
        Finding::fails(subject, tried, cause, self.facts.words(cause, asks))
            .with_help(self.facts.help(cause, asks))
    }
}

/// Whether an open of any file failed for lack of descriptors.
fn out_of_files(error: &Error) -> bool {
    matches!(error.errno(), Some(libc::EMFILE | libc::ENFILE))
}
