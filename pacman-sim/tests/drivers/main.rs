//! The drivers on simulated machines: one suite on each, and every fault at every call.

mod faults;
mod folding;
mod hybrid;
mod program;
mod suite;
mod topdown;
mod trust;
mod user_reads;
mod wide;

/// Mounts the suite on a machine.
macro_rules! on {
    ($($machine:ident)*) => {$(
        mod $machine {
            use super::{faults, suite, wide};

            const NAME: &str = stringify!($machine);

            #[test]
            fn a_session_is_described_in_any_order() {
                suite::a_session_is_described_in_any_order(NAME);
            }

            #[test]
            fn counts_are_the_programs_own() {
                suite::counts_are_the_programs_own(NAME);
            }

            #[test]
            fn siblings_count_at_once() {
                suite::siblings_count_at_once(NAME);
            }

            #[test]
            fn a_count_that_never_moves_is_doubted() {
                suite::a_count_that_never_moves_is_doubted(NAME);
            }

            #[test]
            fn phases_nest() {
                suite::phases_nest(NAME);
            }

            #[test]
            fn sums_follow_their_terms() {
                suite::sums_follow_their_terms(NAME);
            }

            #[test]
            fn too_many_events_are_refused_or_rotate() {
                suite::too_many_events_are_refused_or_rotate(NAME);
            }

            #[test]
            fn a_counter_may_wrap_at_any_time() {
                suite::a_counter_may_wrap_at_any_time(NAME);
            }

            #[test]
            fn contexts_follow_their_timetable() {
                wide::contexts_follow_their_timetable(NAME);
            }

            #[test]
            fn registers_are_as_before() {
                suite::registers_are_as_before(NAME);
            }

            #[test]
            fn run_gives_the_programs_value_whatever_the_counters_do() {
                faults::run_gives_the_programs_value_whatever_the_counters_do(NAME);
            }

            #[test]
            fn a_fault_at_any_call_gives_the_truth_or_an_error() {
                faults::a_fault_at_any_call_gives_the_truth_or_an_error(NAME);
            }
        }
    )*};
}

/// Mounts what counts by registers on a machine whose cores are all alike.
macro_rules! by_registers_on {
    ($($machine:ident)*) => {mod by_registers {$(
        mod $machine {
            use crate::{faults, suite};

            const NAME: &str = stringify!($machine);

            #[test]
            fn siblings_count_at_once() {
                suite::siblings_count_at_once_by_registers(NAME);
            }

            #[test]
            fn stolen_registers_are_noticed() {
                faults::stolen_registers_are_noticed(NAME);
            }

            #[test]
            fn a_fault_at_any_register_gives_the_truth_or_an_error() {
                faults::a_fault_at_any_register_gives_the_truth_or_an_error(NAME);
            }
        }
    )*}};
}

on!(p4 nehalem haswell skylake icelake zen4 knl alderlake skylake_arm64 skylake_arm32 zen4_arm32);
by_registers_on!(p4 nehalem haswell skylake icelake zen4 knl);
