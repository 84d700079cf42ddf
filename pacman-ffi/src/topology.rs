//! The machine: its contexts, cores and packages.

use std::ffi::c_int;

use pacman_core::topology::CoreType;

use crate::error::{Failure, Status, answer_isolated};
use crate::input::{self, Sized32};
use crate::machine;

/// Counts of a machine's parts; `pacman_topology` in C.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct TopologyCounts {
    /// The size of the caller's struct, in bytes.
    pub size: u32,
    /// Online hardware contexts.
    pub contexts: u32,
    /// Those of `contexts` that the calling process may use.
    pub allowed: u32,
    /// Cores with an online context.
    pub cores: u32,
    /// Packages with an online context.
    pub packages: u32,
    /// The most online contexts on one core.
    pub contexts_per_core: u32,
    /// 1 if the machine has more than one kind of core.
    pub hybrid: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: all fields are u32, so there is no padding and every pattern is valid.
unsafe impl Sized32 for TopologyCounts {
    const NAME: &'static str = "a pacman_topology";
    const LEAST: usize = 20;
}

/// One hardware context; `pacman_context` in C.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ContextFacts {
    /// Linux's number of the logical CPU.
    pub cpu: u32,
    /// The package.
    pub package: u32,
    /// The core's number in the machine, from 0 without holes.
    pub core: u32,
    /// The position among its core's contexts, from 0.
    pub sibling: u32,
    /// The NUMA node.
    pub node: u32,
    /// A `PACMAN_CORE_` number.
    pub core_type: u32,
    /// 1 if the calling process may run there.
    pub allowed: u32,
    /// Zero.
    pub reserved: u32,
}

/// Bytes of the fields up to `sibling`, which identify a context.
const LEAST_CONTEXT: usize = 16;

/// Counts the parts of this machine.
///
/// # Safety
/// `topology` is null or points to a writable struct of the length in its `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_topology_read(topology: *mut TopologyCounts) -> c_int {
    answer_isolated(|| {
        let machine = machine::topology()?;
        let counts = TopologyCounts {
            size: 0,
            contexts: machine.contexts().len() as u32,
            allowed: machine.contexts().iter().filter(|context| context.allowed).count() as u32,
            cores: machine.cores().len() as u32,
            packages: machine.packages().len() as u32,
            contexts_per_core: machine.contexts_per_core() as u32,
            hybrid: u32::from(machine.is_hybrid()),
            reserved: 0,
        };
        // SAFETY: the caller's promise.
        unsafe { input::fill_sized(topology, &counts) }?;
        Ok(Status::Ok)
    })
}

/// Lists the hardware contexts of this machine.
///
/// # Safety
/// `contexts` is null or points to `n` writable elements of `element_size` bytes. `count` is null
/// or points to a writable `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_topology_contexts(
    contexts: *mut ContextFacts,
    n: usize,
    element_size: usize,
    count: *mut usize,
) -> c_int {
    answer_isolated(|| {
        input::present(contexts, "contexts")?;
        input::present(count, "the number of contexts")?;
        let ours = size_of::<ContextFacts>();
        if !(LEAST_CONTEXT..=4096).contains(&element_size) {
            return Err(Failure::new(
                Status::Size,
                format!(
                    "cannot return contexts: an element of {element_size} bytes is not a \
                     pacman_context; pass sizeof(pacman_context)"
                ),
            ));
        }
        let machine = machine::topology()?;
        if machine.contexts().len() > n {
            return Err(Failure::new(
                Status::Size,
                format!(
                    "cannot return contexts: there is room for {n}, the machine has {}",
                    machine.contexts().len()
                ),
            ));
        }
        for (index, context) in machine.contexts().iter().enumerate() {
            let facts = ContextFacts {
                cpu: context.cpu,
                package: context.package,
                core: context.core,
                sibling: context.sibling,
                node: context.node,
                core_type: core_type(context.core_type),
                allowed: u32::from(context.allowed),
                reserved: 0,
            };
            // SAFETY: index < capacity, so the element belongs to the caller. The copy is at most as
            // long as the element, and zeros fill the rest.
            unsafe {
                let element = contexts.cast::<u8>().add(index * element_size);
                std::ptr::write_bytes(element, 0, element_size);
                let from = std::ptr::from_ref(&facts).cast::<u8>();
                std::ptr::copy_nonoverlapping(from, element, element_size.min(ours));
            }
        }
        // SAFETY: not null, and the caller's promise.
        unsafe { count.write(machine.contexts().len()) };
        Ok(Status::Ok)
    })
}

fn core_type(core_type: CoreType) -> u32 {
    match core_type {
        CoreType::Performance => 1,
        CoreType::Efficiency => 2,
        CoreType::LowPower => 3,
        // Uniform cores, and core types without a number in C.
        _ => 0,
    }
}
