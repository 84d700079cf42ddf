//! The kernel's software events, and the accounting that also has their counts.

use perf_event_open_sys::bindings as abi;

/// A software event, and the kernel's accounting that also has its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Software {
    /// Its number in `perf_event_open(2)`.
    pub config: u64,
    /// Whether events that happen in user mode count.
    pub in_user: bool,
    /// Whether the event happens in the kernel. Then its counter stays at 0 if the kernel is
    /// excluded, so the process needs the right to count the kernel.
    pub in_kernel: bool,
    /// The kernel's accounting that has this count for a process without that right.
    pub(crate) otherwise: Option<KernelAccounting>,
}

impl Software {
    /// Whether the kernel's accounting also has the count.
    pub fn is_counted_anyway(&self) -> bool {
        self.otherwise.is_some()
    }
}

/// Counts that the kernel keeps for every thread, independent of perf's permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelAccounting {
    /// Voluntary and involuntary switches, `getrusage(RUSAGE_THREAD)`.
    ContextSwitches,
    /// Minor and major faults, `getrusage(RUSAGE_THREAD)`.
    PageFaults,
    /// Minor faults, `getrusage(RUSAGE_THREAD)`.
    MinorFaults,
    /// Major faults, `getrusage(RUSAGE_THREAD)`.
    MajorFaults,
    /// `se.nr_migrations` of `/proc/thread-self/sched`.
    Migrations,
}

impl KernelAccounting {
    /// The event that has the same count.
    pub(crate) fn event(self) -> &'static str {
        let of = |row: &&Row| row.software.otherwise == Some(self);
        ROWS.iter().find(of).expect("every account is some event's").name
    }
}

/// A software event's name, unit and source.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) software: Software,
}

const fn row(
    name: &'static str,
    unit: &'static str,
    id: abi::perf_sw_ids,
    in_kernel: bool,
    otherwise: Option<KernelAccounting>,
) -> Row {
    let software = Software { config: id as u64, in_user: true, in_kernel, otherwise };
    Row { name, unit, software }
}

impl Row {
    /// Whether the kernel counts it the same in every mode. perf accepts `u` and `k` for clocks, too.
    fn is_clock(&self) -> bool {
        self.unit == "ns"
    }

    /// The event in the modes of these modifiers, and the ending of its name; `None` if they are not
    /// `u`, `k` or both.
    ///
    /// Both are the event itself. The kernel's accounting does not tell modes apart, so it stands in for
    /// neither alone.
    pub(super) fn in_modes(&self, modifiers: &str) -> Option<(Software, &'static str)> {
        let (mut user, mut kernel) = (false, false);
        for letter in modifiers.chars().filter(|letter| *letter != ':') {
            let mode = match letter.to_ascii_lowercase() {
                'u' => &mut user,
                'k' => &mut kernel,
                _ => return None,
            };
            if std::mem::replace(mode, true) {
                return None;
            }
        }
        if user == kernel || self.is_clock() {
            return Some((self.software, ""));
        }
        let software =
            Software { in_user: user, in_kernel: kernel, otherwise: None, ..self.software };
        Some((software, if user { ":u" } else { ":k" }))
    }
}

/// By name.
pub(super) const ROWS: [Row; 10] = [
    row("alignment-faults", "faults", abi::PERF_COUNT_SW_ALIGNMENT_FAULTS, false, None),
    row("cgroup-switches", "switches", abi::PERF_COUNT_SW_CGROUP_SWITCHES, true, None),
    row(
        "context-switches",
        "switches",
        abi::PERF_COUNT_SW_CONTEXT_SWITCHES,
        true,
        Some(KernelAccounting::ContextSwitches),
    ),
    row("cpu-clock", "ns", abi::PERF_COUNT_SW_CPU_CLOCK, false, None),
    row(
        "cpu-migrations",
        "migrations",
        abi::PERF_COUNT_SW_CPU_MIGRATIONS,
        true,
        Some(KernelAccounting::Migrations),
    ),
    row("emulation-faults", "faults", abi::PERF_COUNT_SW_EMULATION_FAULTS, false, None),
    row(
        "major-faults",
        "faults",
        abi::PERF_COUNT_SW_PAGE_FAULTS_MAJ,
        true,
        Some(KernelAccounting::MajorFaults),
    ),
    row(
        "minor-faults",
        "faults",
        abi::PERF_COUNT_SW_PAGE_FAULTS_MIN,
        true,
        Some(KernelAccounting::MinorFaults),
    ),
    row(
        "page-faults",
        "faults",
        abi::PERF_COUNT_SW_PAGE_FAULTS,
        true,
        Some(KernelAccounting::PageFaults),
    ),
    row("task-clock", "ns", abi::PERF_COUNT_SW_TASK_CLOCK, false, None),
];

/// Other spellings, as the `perf` command knows them.
const ALIASES: [(&str, &str); 3] =
    [("cs", "context-switches"), ("faults", "page-faults"), ("migrations", "cpu-migrations")];

/// The software event of this name, in any case.
pub(super) fn find(name: &str) -> Option<&'static Row> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, name)| name);
    ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(name))
}
