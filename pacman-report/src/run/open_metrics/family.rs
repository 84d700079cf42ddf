//! The metric families: their names, types, units and help.

/// The kind of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Info,
    /// A gauge: a value that may fall.
    Value,
    Counter,
}

/// A metric family.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The last word of the name, if it is a unit.
    pub(super) unit: Option<&'static str>,
    pub(super) help: &'static str,
}

impl Family {
    /// The lines before the samples.
    pub(super) fn heading(&self) -> String {
        let Family { name, kind, unit, help } = self;
        let kind = match kind {
            Kind::Info => "info",
            Kind::Value => "gauge",
            Kind::Counter => "counter",
        };
        let unit = unit.map_or_else(String::new, |unit| format!("# UNIT {name} {unit}\n"));
        format!("# TYPE {name} {kind}\n{unit}# HELP {name} {help}\n")
    }

    /// The name of its samples.
    pub(super) fn sample_name(&self) -> String {
        let suffix = match self.kind {
            Kind::Info => "_info",
            Kind::Value => "",
            Kind::Counter => "_total",
        };
        format!("{}{suffix}", self.name)
    }
}

const fn counter(name: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Counter, unit: None, help }
}

const fn seconds(name: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Counter, unit: Some("seconds"), help }
}

const fn ratio(name: &'static str, help: &'static str) -> Family {
    Family { name, kind: Kind::Value, unit: Some("ratio"), help }
}

/// The run.
pub(super) const RUN: Family =
    Family { name: "pacman_run", kind: Kind::Info, unit: None, help: "The run and its report." };

/// Families and their places.
macro_rules! families {
    ($($of:ident: $family:expr,)+) => {
        /// Places in [`FAMILIES`].
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Of { $($of),+ }

        /// The families of processes, in the order of the file.
        pub(super) const FAMILIES: [Family; [$(Of::$of),+].len()] = [$($family),+];
    };
}

families! {
    ProcessSeconds: Family {
        name: "pacman_process_seconds",
        kind: Kind::Value,
        unit: Some("seconds"),
        help: "Wall time of the process from the loading of the library.",
    },
    ProcessorShare: ratio(
        "pacman_process_processor_share_ratio",
        "Part of the time in which its threads could run that they ran.",
    ),
    UsefulProcessorShare: ratio(
        "pacman_process_useful_processor_share_ratio",
        "Part of the useful time in regions that threads were on a processor, from run --waits.",
    ),
    Efficiency: ratio("pacman_process_efficiency_ratio", "Factors of the efficiency tree, from run --waits."),
    Executions: counter("pacman_region_executions", "Completed executions of the region."),
    Seconds: seconds("pacman_region_seconds", "Wall time of the region's executions."),
    Margin: ratio(
        "pacman_region_margin_ratio",
        "Half of the interval of shares of the threads' time, where these are estimates.",
    ),
    Waiting: ratio("pacman_region_waiting_ratio", "Part of the threads' time without work in the region."),
    Energy: Family {
        name: "pacman_region_energy_joules",
        kind: Kind::Counter,
        unit: Some("joules"),
        help: "Energy of all processor packages in the region's executions with a reading.",
    },
    ThreadExecutions: counter("pacman_region_thread_executions", "Executions that the thread took part in."),
    Busy: seconds("pacman_region_thread_busy_seconds", "Time of the thread inside the region's body."),
    States: seconds(
        "pacman_region_thread_state_seconds",
        "Useful time, and waits by cause, from run --waits.",
    ),
    OffProcessor: seconds(
        "pacman_region_thread_off_processor_seconds",
        "Useful time and waits in which the thread was on no processor, from run --waits.",
    ),
    Events: counter("pacman_region_thread_events", "Events counted on the thread."),
    Slots: ratio("pacman_region_thread_slots_ratio", "Parts of the thread's issue slots by category."),
    SmtOff: ratio(
        "pacman_region_smt_off_speed_ratio",
        "Bounds of the speed with SMT off over that with SMT on.",
    ),
    PhaseExecutions: counter("pacman_phase_executions", "Executions of the phase that ended."),
    PhaseSeconds: seconds("pacman_phase_seconds", "Time of the thread that spent most in the phase."),
    PhaseThreadExecutions: counter("pacman_phase_thread_executions", "Executions on the thread that ended."),
    PhaseThreadUnended: counter("pacman_phase_thread_unended", "Executions on the thread that never ended."),
    PhaseThreadSeconds: seconds("pacman_phase_thread_seconds", "Time of the thread in the phase."),
    PhaseThreadEvents: counter("pacman_phase_thread_events", "Events counted on the thread in the phase."),
}
