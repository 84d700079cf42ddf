//! The machine that the program's threads run on.

use std::env;

use pacman_core::{Result, Topology};
use try_lock::TryLock;

/// Variables by which users bind threads.
const BINDING: [&str; 4] = ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"];

/// The variable by which the user binds threads, if one does.
///
/// `OMP_PROC_BIND=false` switches all binding off (OpenMP 5.2), whatever the others say.
pub(crate) fn bound_by() -> Option<&'static str> {
    let is_off = |value: &str| value.trim().eq_ignore_ascii_case("false");
    match env::var(BINDING[0]) {
        Ok(value) if is_off(&value) => None,
        _ => BINDING.into_iter().find(|name| env::var_os(name).is_some()),
    }
}

/// The answer of [`topology`]: the kernel has five files for each context.
static TOPOLOGY: TryLock<Option<Topology>> = TryLock::new(None);

/// The contexts of the machine that `PACMAN_MACHINE` names, or else of the real one, at the first call.
///
/// # Errors
/// `InvalidInput` if `PACMAN_MACHINE` names an unknown machine; `System` if neither `/sys` nor the
/// affinity mask lists the contexts.
pub(crate) fn topology() -> Result<Topology> {
    // In the child of a fork another thread may hold it for ever: read the files again then.
    let mut kept = TOPOLOGY.try_lock();
    if let Some(Some(topology)) = kept.as_deref() {
        return Ok(topology.clone());
    }
    pacman_sim::install()?;
    let topology = Topology::detect()?;
    if let Some(kept) = &mut kept {
        **kept = Some(topology.clone());
    }
    Ok(topology)
}
