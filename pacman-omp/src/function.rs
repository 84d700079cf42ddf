//! The functions that this library interposes or calls, and the meaning of a call of each.

use std::ffi::CStr;

/// The meaning of a watched call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// None. Often the program's first call, which shows that its calls pass this library.
    Neutral,
    /// The program may change how many threads its teams get.
    ChangesTeams,
    /// The body asks for its thread's number.
    ThreadNumber,
    /// The body asks how many threads its team has.
    TeamSize,
    /// The body asks how many threads an enclosing team has.
    AncestorTeamSize,
    /// The body asks a question whose answer differs between threads or teams.
    Position,
    /// The program asks how many threads there may be.
    Query,
    /// The program sets how many threads there are.
    SetsNumThreads,
    /// The body has the runtime share work out.
    SharesWork,
    /// The body has the runtime share work out as tasks, which may run after the body.
    SharesAsTasks,
    /// The body makes a task. A flag says whether it depends on others.
    Task,
    /// The body makes a task that depends on others.
    DependentTask,
    /// The program requests the team size of its next region.
    PushesNumThreads,
    /// The runtime keeps data for each thread of the program: clang's threadprivate data where the
    /// system has no thread-local storage.
    Threadprivate,
    /// The program runs a league of teams.
    Teams,
    /// The process ends without its exit handlers.
    Exits,
    /// The process becomes another program.
    Execs,
    /// The program reads or sets an affinity mask, or starts a thread or process that inherits one.
    UsesAffinity,
}

/// Gives the table of all functions to the macro `$then`. First come the functions with their own entry
/// and those that the library only calls, then the watched ones by kind.
macro_rules! functions {
    ($then:ident) => {
        $then! {
            {
                GOMP_parallel GOMP_parallel_start GOMP_parallel_end
                GOMP_parallel_loop_static GOMP_parallel_loop_dynamic
                GOMP_parallel_loop_guided GOMP_parallel_loop_runtime
                GOMP_parallel_loop_nonmonotonic_dynamic GOMP_parallel_loop_nonmonotonic_guided
                GOMP_parallel_loop_nonmonotonic_runtime
                GOMP_parallel_loop_maybe_nonmonotonic_runtime
                GOMP_parallel_loop_static_start GOMP_parallel_loop_dynamic_start
                GOMP_parallel_loop_guided_start GOMP_parallel_loop_runtime_start
                GOMP_parallel_sections GOMP_parallel_sections_start
                GOMP_parallel_reductions GOMP_teams_reg
                __kmpc_fork_call __kmpc_fork_call_if
                __kmpc_for_static_init_4 __kmpc_for_static_init_4u
                __kmpc_for_static_init_8 __kmpc_for_static_init_8u
                __kmpc_dispatch_init_4 __kmpc_dispatch_init_4u
                __kmpc_dispatch_init_8 __kmpc_dispatch_init_8u
                __kmpc_barrier
                GOMP_barrier GOMP_barrier_cancel
                GOMP_loop_end GOMP_loop_end_cancel GOMP_workshare_task_reduction_unregister
                GOMP_sections_end GOMP_sections_end_cancel
                GOMP_single_copy_start GOMP_single_copy_end
                GOMP_critical_start GOMP_critical_name_start GOMP_atomic_start
                GOMP_ordered_start GOMP_doacross_wait
                GOMP_taskwait GOMP_taskwait_depend GOMP_taskgroup_end
                omp_set_lock omp_set_lock_ omp_set_nest_lock omp_set_nest_lock_
                __kmpc_cancel_barrier __kmpc_reduce __kmpc_end_reduce __kmpc_copyprivate
                __kmpc_critical __kmpc_critical_with_hint __kmpc_ordered __kmpc_doacross_wait
                __kmpc_omp_taskwait __kmpc_omp_wait_deps __kmpc_end_taskgroup
                __kmpc_omp_task_alloc
                ompt_start_tool
                kmp_get_blocktime kmp_set_blocktime
                omp_get_level omp_get_num_teams omp_get_team_num
                omp_get_num_places omp_get_place_num_procs omp_get_place_proc_ids
            }
            Neutral {
                __kmpc_global_thread_num
                omp_set_schedule omp_set_schedule_
                omp_get_schedule omp_get_schedule_
                omp_init_lock omp_init_lock_
                omp_init_nest_lock omp_init_nest_lock_
            }
            ChangesTeams {
                omp_set_max_active_levels omp_set_max_active_levels_
                omp_set_nested omp_set_nested_
                omp_set_dynamic omp_set_dynamic_
                omp_pause_resource omp_pause_resource_
                omp_pause_resource_all omp_pause_resource_all_
                kmp_set_defaults kmp_set_defaults_
            }
            ThreadNumber { omp_get_thread_num omp_get_thread_num_ }
            TeamSize { omp_get_num_threads omp_get_num_threads_ }
            AncestorTeamSize { omp_get_team_size omp_get_team_size_ omp_get_team_size_8_ }
            Position {
                omp_get_ancestor_thread_num omp_get_ancestor_thread_num_
                omp_get_ancestor_thread_num_8_
                omp_in_parallel omp_in_parallel_
                omp_get_active_level omp_get_active_level_
            }
            Query {
                omp_get_max_threads omp_get_max_threads_
                omp_get_num_procs omp_get_num_procs_
                omp_get_thread_limit omp_get_thread_limit_
            }
            SetsNumThreads { omp_set_num_threads omp_set_num_threads_ omp_set_num_threads_8_ }
            SharesWork {
                GOMP_loop_start GOMP_loop_ordered_start GOMP_loop_doacross_start
                GOMP_loop_static_start GOMP_loop_dynamic_start
                GOMP_loop_guided_start GOMP_loop_runtime_start
                GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_guided_start
                GOMP_loop_nonmonotonic_runtime_start GOMP_loop_maybe_nonmonotonic_runtime_start
                GOMP_loop_ordered_static_start GOMP_loop_ordered_dynamic_start
                GOMP_loop_ordered_guided_start GOMP_loop_ordered_runtime_start
                GOMP_loop_doacross_static_start GOMP_loop_doacross_dynamic_start
                GOMP_loop_doacross_guided_start GOMP_loop_doacross_runtime_start
                GOMP_loop_ull_start GOMP_loop_ull_ordered_start GOMP_loop_ull_doacross_start
                GOMP_loop_ull_static_start GOMP_loop_ull_dynamic_start
                GOMP_loop_ull_guided_start GOMP_loop_ull_runtime_start
                GOMP_loop_ull_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_guided_start
                GOMP_loop_ull_nonmonotonic_runtime_start
                GOMP_loop_ull_maybe_nonmonotonic_runtime_start
                GOMP_loop_ull_ordered_static_start GOMP_loop_ull_ordered_dynamic_start
                GOMP_loop_ull_ordered_guided_start GOMP_loop_ull_ordered_runtime_start
                GOMP_loop_ull_doacross_static_start GOMP_loop_ull_doacross_dynamic_start
                GOMP_loop_ull_doacross_guided_start GOMP_loop_ull_doacross_runtime_start
                GOMP_sections_start GOMP_sections2_start
            }
            SharesAsTasks {
                GOMP_taskloop GOMP_taskloop_ull
                __kmpc_omp_task __kmpc_taskloop __kmpc_taskloop_5
            }
            Task { GOMP_task }
            DependentTask { __kmpc_omp_task_with_deps }
            PushesNumThreads {
                __kmpc_push_num_threads __kmpc_push_num_threads_strict
                __kmpc_push_num_threads_list __kmpc_push_num_threads_list_strict
            }
            Threadprivate {
                __kmpc_threadprivate_cached
                __kmpc_threadprivate_register __kmpc_threadprivate_register_vec
            }
            Teams { __kmpc_fork_teams }
            Exits { _exit _Exit }
            Execs { execve execv execvp execvpe execl execlp execle fexecve }
            UsesAffinity {
                sched_getaffinity pthread_getaffinity_np
                sched_setaffinity pthread_setaffinity_np
                pthread_create posix_spawn posix_spawnp system popen vfork
            }
        }
    };
}
pub(crate) use functions;

macro_rules! declare {
    ({ $($called:ident)+ } $($kind:ident { $($watched:ident)+ })+) => {
        /// A function of a runtime, or of the C library.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        #[allow(non_camel_case_types)]
        pub(crate) enum Function { $($called,)+ $($($watched,)+)+ }

        const ALL: &[(Function, &CStr, CallKind)] = &[
            $((Function::$called, name(concat!(stringify!($called), "\0")), CallKind::Neutral),)+
            $($((
                Function::$watched,
                name(concat!(stringify!($watched), "\0")),
                CallKind::$kind,
            ),)+)+
        ];
    };
}

functions!(declare);

const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name has one zero, at its end"),
    }
}

impl Function {
    /// The number of functions.
    pub(crate) const COUNT: usize = ALL.len();

    /// The symbol.
    pub(crate) fn symbol(self) -> &'static CStr {
        ALL[self as usize].1
    }

    /// The symbol as text.
    pub(crate) fn name(self) -> &'static str {
        self.symbol().to_str().unwrap_or_default()
    }

    /// The meaning of a call, if calls are only watched.
    #[inline]
    pub(crate) fn kind(self) -> CallKind {
        ALL[self as usize].2
    }

    /// Whether a module that imports `name` can tell its threads apart.
    pub(crate) fn tells_threads_apart(name: &CStr) -> bool {
        let numbers = |kind: CallKind| {
            use CallKind::{AncestorTeamSize, Position, TeamSize, ThreadNumber};
            matches!(kind, ThreadNumber | TeamSize | AncestorTeamSize | Position)
        };
        ALL.iter().any(|(_, known, kind)| numbers(*kind) && *known == name)
    }

    /// The function of a number that an assembly entry passes.
    #[inline]
    pub(crate) fn numbered(number: u32) -> Function {
        ALL[number as usize].0
    }
}
