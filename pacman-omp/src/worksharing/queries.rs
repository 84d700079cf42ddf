//! The runtime's functions that one execution asks.

use super::execution;
use crate::function::Function;
use crate::region::Region;
use crate::runtime::Question;

/// An execution of a region of the program.
pub(crate) type Execution = execution::Execution<RuntimeQueries>;

/// The part of a thread of the program; its worker keeps it.
pub(crate) type Member = execution::Member<RuntimeQueries>;

/// The runtime's own functions, so that questions do not pass this library's entries.
pub(crate) struct RuntimeQueries {
    pub(super) region: &'static Region,
    pub(super) level: Question,
    pub(super) threads: Question,
}

impl RuntimeQueries {
    pub(super) fn of(region: &'static Region) -> Option<RuntimeQueries> {
        let ask = |function| region.runtime.question(function);
        let (level, threads) = (ask(Function::omp_get_level)?, ask(Function::omp_get_num_threads)?);
        Some(RuntimeQueries { region, level, threads })
    }
}
