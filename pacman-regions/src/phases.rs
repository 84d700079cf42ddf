//! Phases: parts of a program that it marks by calls of an interface for tools.

use serde::{Deserialize, Serialize};

use crate::Row;

/// The interface whose calls mark a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// A kernel of `Kokkos::parallel_for`.
    KokkosFor,
    /// A kernel of `Kokkos::parallel_reduce`.
    KokkosReduce,
    /// A kernel of `Kokkos::parallel_scan`.
    KokkosScan,
    /// A region of `Kokkos::Profiling::pushRegion`.
    KokkosRegion,
    /// A wait of Kokkos for a device.
    KokkosFence,
    /// A region of LIKWID's marker interface.
    Likwid,
    /// A region of PAPI's high-level interface.
    Papi,
    /// A phase of a session of PACMAN itself.
    Pacman,
}

impl PhaseKind {
    /// All kinds, each at the number that a recording has for it.
    const ALL: [PhaseKind; 8] = [
        PhaseKind::KokkosFor,
        PhaseKind::KokkosReduce,
        PhaseKind::KokkosScan,
        PhaseKind::KokkosRegion,
        PhaseKind::KokkosFence,
        PhaseKind::Likwid,
        PhaseKind::Papi,
        PhaseKind::Pacman,
    ];

    /// The kind of that number in a recording.
    pub fn numbered(number: u64) -> Option<PhaseKind> {
        PhaseKind::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Whether it is a kernel of Kokkos, whose label its regions have.
    pub fn is_kernel(self) -> bool {
        matches!(self, PhaseKind::KokkosFor | PhaseKind::KokkosReduce | PhaseKind::KokkosScan)
    }

    /// The name in reports.
    pub fn word(self) -> &'static str {
        match self {
            PhaseKind::KokkosFor => "kokkos-for",
            PhaseKind::KokkosReduce => "kokkos-reduce",
            PhaseKind::KokkosScan => "kokkos-scan",
            PhaseKind::KokkosRegion => "kokkos-region",
            PhaseKind::KokkosFence => "kokkos-fence",
            PhaseKind::Likwid => "likwid",
            PhaseKind::Papi => "papi",
            PhaseKind::Pacman => "pacman",
        }
    }
}

/// A phase that the program marks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// The name that the program gives.
    pub name: String,
    /// The interface that marks it.
    pub kind: PhaseKind,
    /// Its executions by thread.
    pub threads: Vec<PhaseThread>,
}

/// The executions of a phase on one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseThread {
    /// Executions that began. More than the row's executions if some never ended.
    pub begun: u64,
    /// The executions that ended, with the number that the thread has among those with phases. The
    /// seconds are from begin to end.
    pub row: Row,
    /// Its waits; `None` if they were not asked for.
    #[serde(default)]
    pub states: Option<PhaseStates>,
}

/// The states of one thread in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseStates {
    /// Seconds of waits: at constructs, in MPI calls, and for the threads of regions that it starts.
    pub waiting: f64,
    /// Seconds of the rest in which the thread was on no processor; `None` if the kernel's clock could not
    /// be read.
    pub useful_off: Option<f64>,
    /// The same of the waits.
    pub waiting_off: Option<f64>,
}

impl PhaseThread {
    /// Executions that never ended; their time and counts are in no figure.
    pub fn unended(&self) -> u64 {
        self.begun.saturating_sub(self.row.executions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_by_its_number_and_has_one_word() {
        for (number, kind) in PhaseKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            assert_eq!(PhaseKind::numbered(number as u64), Some(kind));
            let text = serde_json::to_string(&kind).expect("a word");
            assert_eq!(text, format!("\"{}\"", kind.word()));
        }
        assert_eq!(PhaseKind::numbered(8), None);
    }
}
