//! Limits that bite when many threads count, and facts that explain numbers.

use super::cause::{Cause, Circumstances, Scope};
use super::finding::{Check, Finding, Help};
use super::hypervisor::Guests;
use pacman_core::arch::CLOCK_SOURCE;
use pacman_core::backend::perf::TRUST_DRIVER;
use pacman_events::plural::number;

/// The events a thread that the limits are weighed for.
const EVENTS: u64 = 4;

/// Bytes of a counter page: one of the kernel's.
fn page() -> u64 {
    // SAFETY: sysconf takes any number.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Whether every context can have a thread with counters.
pub(super) fn descriptors(facts: &Circumstances) -> Finding {
    let (limit, open) = (facts.permissions.descriptors, facts.around.open_files);
    let contexts = facts.around.contexts;
    let tried =
        format!("compared the limit on open files with the needs of {}", threads_of(contexts));
    if limit == u64::MAX {
        let text = "open files are not limited";
        return Finding::works(Check::Descriptors, &tried, text);
    }
    // A session holds one more group, so that every later open is cheap.
    let each = EVENTS * facts.around.core_types.len().max(1) as u64;
    let threads = (limit.saturating_sub(open) / each).saturating_sub(1);
    let room = format!("{limit} allowed, {open} open: room for {}", threads_of(threads));
    if threads >= contexts {
        return Finding::works(Check::Descriptors, &tried, room);
    }
    let text = format!("{room}, but {} can run threads", number(contexts, "context"));
    Finding::fails(Check::Descriptors, &tried, Cause::DescriptorLimit, text)
        .with_help(vec![facts.more_files()])
}

/// Whether every context can have a thread with mapped counter pages. `None`
/// where they are not limited or the limit is not known.
pub(super) fn locked_memory(facts: &Circumstances) -> Option<Finding> {
    let around = facts.around;
    let free = around.ipc_lock || facts.permissions.paranoid.is_some_and(|level| level < 0);
    // Counters of a hybrid are read by a system call, without pages.
    let free = free || !around.core_types.is_empty();
    let (false, Some(allowance), Some(locked)) =
        (free, around.page_allowance_kb, around.locked_memory)
    else {
        return None;
    };
    let tried = format!(
        "compared perf_event_mlock_kb and the limit on locked memory with the needs of {}",
        threads_of(around.contexts)
    );
    let pages = allowance * 1024 / page() * around.contexts + locked / page();
    let threads = pages / EVENTS;
    let room = format!("room for {pages} counter pages: {}", threads_of(threads));
    if threads >= around.contexts {
        return Some(Finding::works(Check::LockedMemory, &tried, room));
    }
    let text = format!("{room}; further threads read with a system call");
    Some(
        Finding::fails(Check::LockedMemory, &tried, Cause::LockedMemory, text)
            .with_help(facts.help(Cause::LockedMemory, Scope::UserMode)),
    )
}

/// Facts that are neither good nor bad, but explain numbers. `virtual_counters` says of which kind a guest's are, if
/// that is known.
pub(super) fn facts(facts: &Circumstances, virtual_counters: Option<String>) -> Vec<Finding> {
    let permissions = facts.permissions;
    let mut found = Vec::new();
    if let Some(doubt) = permissions.driver_doubt {
        found.push(
            Finding::noted(
                Check::Driver,
                "looked the processor up",
                format!(
                    "not trusted: {doubt}; sessions count by registers instead, which takes root and \
                     the msr module, and bind their threads"
                ),
            )
            .with_help(vec![
                Help::command("to count by registers, as root", "sudo modprobe msr"),
                Help::setting("to accept counts that may be wrong", format!("{TRUST_DRIVER}=1")),
            ]),
        );
    }
    if permissions.watchdog && permissions.has_pmu() {
        found.push(
            Finding::noted(
                Check::Watchdog,
                "read /proc/sys/kernel/nmi_watchdog",
                "on: it holds one hardware counter of every context",
            )
            .with_help(facts.help(Cause::Watchdog, Scope::UserMode)),
        );
    }
    if permissions.pmus.len() > 1 {
        let pmus = permissions.pmus.join(", ");
        found.push(
            Finding::noted(
                Check::Hybrid,
                "listed /sys/bus/event_source/devices",
                match facts.around.core_types.is_empty() {
                    false => format!(
                        "{pmus}: sessions count on each core type and tell the counts apart, by a \
                         system call for each"
                    ),
                    true => {
                        format!("{pmus}: a count holds only while its thread is on one core type")
                    }
                },
            )
            .with_help(facts.help(Cause::HybridCores, Scope::UserMode)),
        );
    }
    if permissions.virtual_machine && permissions.has_pmu() {
        found.push(match virtual_counters {
            Some(kind) => {
                let tried = "read the processor's flags, and timed RDPMC and CPUID";
                Finding::noted(Check::VirtualMachine, tried, format!("counters are {kind}"))
            }
            None => Finding::noted(
                Check::VirtualMachine,
                "read the processor's flags",
                "counters belong to a hypervisor, which may emulate or share them",
            ),
        });
    }
    found.extend(facts.around.guests.map(Guests::finding));
    if let Some(container) = permissions.container {
        found.push(Finding::noted(
            Check::Container,
            "looked for the marks of container engines",
            format!("this process runs in {container}"),
        ));
    }
    for limit in &facts.around.cpu_limits {
        found.push(Finding::noted(
            Check::CpuLimits,
            "read the affinity mask and the cgroups",
            limit.clone(),
        ));
    }
    let clock = facts.around.clock_source.as_deref();
    if let Some(clock) = clock.filter(|name| Some(*name) != CLOCK_SOURCE) {
        let usual = CLOCK_SOURCE.map(|usual| format!(", not {usual}")).unwrap_or_default();
        let text = format!("{clock}{usual}: the time of a phase's edge takes a system clock read");
        found.push(Finding::noted(
            Check::ClockSource,
            "read the kernel's current clock source",
            text,
        ));
    }
    found
}

/// The remark on `rdpmc`, where more is allowed than as a rule.
pub(super) fn rdpmc_for_all() -> Help {
    Help::command(
        "to let processes read their own counters only",
        "echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc",
    )
}

fn threads_of(threads: u64) -> String {
    format!("{} of {EVENTS} events", number(threads, "thread"))
}
