//! The functions that this library interposes or calls, and the meaning of a call of each.

use std::ffi::CStr;

/// The meaning of a watched call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// The library has code of its own for the function, and changes what it does.
    Changed,
    /// None for this library. Often the program's first call, which shows that its calls pass this library.
    Neutral,
    /// None, because the library only calls it.
    Called,
    /// The program may change how many threads its teams get.
    ChangesTeams,
    /// The program asks how many threads there are or may be.
    CountsThreads,
    /// The program sets how many threads there are.
    SetsNumThreads,
    /// A call in which the thread may wait.
    Waits,
    /// The thread asks for the next chunk of a loop.
    Chunks,
    /// libgomp makes the tasks of a loop, and gets their data.
    Taskloop,
    /// libomp makes the block of a task, which another call creates.
    TaskBlock,
    /// As the next, by libgomp's function, which gets the data of the task.
    Task,
    /// The body makes a task, which may run after the body.
    MakesTask,
    /// The program requests the team size of its next region.
    PushesNumThreads,
    /// The program runs a league of teams.
    Teams,
    /// The process ends without its exit handlers.
    Exits,
    /// The process becomes another program.
    Execs,
    /// The program reads or sets an affinity mask.
    UsesAffinity,
    /// The call needs the caller's own mask while it runs: it may start a thread or process that inherits the mask, or
    /// tells of it. Some C libraries count the contexts of the mask where they are asked for the processors.
    HandsOnMask,
    /// The program asks how long idle threads of libomp spin, or sets it.
    BlockTime,
    /// A module ends, or may end.
    Unloads,
    /// The program may install a filter of its system calls.
    Filters,
    /// A function of MPI, under the program's name or the profiling interface's.
    Mpi,
    /// The program marks a phase, or Kokkos calls a tool.
    Marks,
}

/// Gives the table of all functions to the macro `$then`. First come the functions with their own entry,
/// then those that the library only calls and the watched ones by kind. In `Mpi` each function is
/// followed by its name in the profiling interface.
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
                __kmpc_barrier __kmpc_cancel_barrier
                ompt_start_tool pacman_omp_phase
            }
            Called {
                omp_get_level omp_get_num_teams omp_get_team_num
                omp_get_num_places omp_get_place_num_procs omp_get_place_proc_ids
            }
            Neutral {
                omp_get_thread_num omp_get_thread_num_
                __kmpc_global_thread_num omp_set_schedule omp_set_schedule_ omp_get_schedule
                omp_get_schedule_ omp_init_lock omp_init_lock_ omp_init_nest_lock
                omp_init_nest_lock_ omp_set_schedule_8_ omp_get_schedule_8_ kmp_set_schedule_8
                kmp_set_schedule_8_ kmp_get_schedule_8 kmp_get_schedule_8_ ompc_set_schedule
                omp_init_lock_with_hint omp_init_lock_with_hint_ omp_init_nest_lock_with_hint
                omp_init_nest_lock_with_hint_ __kmpc_init_lock __kmpc_init_lock_with_hint
                __kmpc_init_nest_lock __kmpc_init_nest_lock_with_hint __kmpc_serialized_parallel
                omp_get_ancestor_thread_num omp_get_ancestor_thread_num_
                omp_get_ancestor_thread_num_8_ omp_in_parallel omp_in_parallel_ omp_get_active_level
                omp_get_active_level_ kmp_get_ancestor_thread_num_8 kmp_get_ancestor_thread_num_8_
                ompc_get_ancestor_thread_num omp_display_affinity omp_display_affinity_
                omp_capture_affinity omp_capture_affinity_ ompc_display_affinity
                ompc_capture_affinity omp_get_place_num omp_get_place_num_
                omp_get_partition_place_nums omp_get_partition_place_nums_
                omp_get_partition_place_nums_8_ kmp_get_partition_place_nums_8
                kmp_get_partition_place_nums_8_ omp_get_partition_num_places
                omp_get_partition_num_places_ GOMP_loop_start GOMP_loop_ordered_start
                GOMP_loop_doacross_start GOMP_loop_static_start GOMP_loop_dynamic_start
                GOMP_loop_guided_start GOMP_loop_runtime_start GOMP_loop_nonmonotonic_dynamic_start
                GOMP_loop_nonmonotonic_guided_start GOMP_loop_nonmonotonic_runtime_start
                GOMP_loop_maybe_nonmonotonic_runtime_start GOMP_loop_ordered_static_start
                GOMP_loop_ordered_dynamic_start GOMP_loop_ordered_guided_start
                GOMP_loop_ordered_runtime_start GOMP_loop_doacross_static_start
                GOMP_loop_doacross_dynamic_start GOMP_loop_doacross_guided_start
                GOMP_loop_doacross_runtime_start GOMP_loop_ull_start GOMP_loop_ull_ordered_start
                GOMP_loop_ull_doacross_start GOMP_loop_ull_static_start GOMP_loop_ull_dynamic_start
                GOMP_loop_ull_guided_start GOMP_loop_ull_runtime_start
                GOMP_loop_ull_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_guided_start
                GOMP_loop_ull_nonmonotonic_runtime_start
                GOMP_loop_ull_maybe_nonmonotonic_runtime_start GOMP_loop_ull_ordered_static_start
                GOMP_loop_ull_ordered_dynamic_start GOMP_loop_ull_ordered_guided_start
                GOMP_loop_ull_ordered_runtime_start GOMP_loop_ull_doacross_static_start
                GOMP_loop_ull_doacross_dynamic_start GOMP_loop_ull_doacross_guided_start
                GOMP_loop_ull_doacross_runtime_start GOMP_sections_start GOMP_sections2_start
                __kmpc_for_static_init_4 __kmpc_for_static_init_4u __kmpc_for_static_init_8
                __kmpc_for_static_init_8u __kmpc_dispatch_init_4 __kmpc_dispatch_init_4u
                __kmpc_dispatch_init_8 __kmpc_dispatch_init_8u __kmpc_sections_init
                __kmpc_dist_for_static_init_4 __kmpc_dist_for_static_init_4u
                __kmpc_dist_for_static_init_8 __kmpc_dist_for_static_init_8u
                __kmpc_dist_dispatch_init_4 __kmpc_dist_dispatch_init_4u __kmpc_dist_dispatch_init_8
                __kmpc_dist_dispatch_init_8u __kmpc_threadprivate_cached
                __kmpc_threadprivate_register __kmpc_threadprivate_register_vec __kmpc_threadprivate
                kmp_threadprivate_insert kmp_threadprivate_insert_private_data
            }
            ChangesTeams {
                omp_set_max_active_levels omp_set_max_active_levels_ omp_set_nested omp_set_nested_
                omp_set_dynamic omp_set_dynamic_ omp_pause_resource omp_pause_resource_
                omp_pause_resource_all omp_pause_resource_all_ kmp_set_defaults kmp_set_defaults_
                omp_set_max_active_levels_8_ kmp_set_max_active_levels_8
                kmp_set_max_active_levels_8_ ompc_set_max_active_levels omp_set_nested_8_
                ompc_set_nested omp_set_dynamic_8_ ompc_set_dynamic kmp_pause_resource_8
                kmp_pause_resource_8_ __kmpc_pause_resource kmpc_set_defaults kmp_set_library
                kmp_set_library_ kmp_set_library_8 kmp_set_library_8_ kmpc_set_library
                kmp_set_library_serial kmp_set_library_serial_ kmp_set_library_throughput
                kmp_set_library_throughput_ kmp_set_library_turnaround kmp_set_library_turnaround_
                omp_set_num_teams omp_set_num_teams_ omp_set_num_teams_8_ kmp_set_num_teams_8
                kmp_set_num_teams_8_ omp_set_teams_thread_limit omp_set_teams_thread_limit_
                omp_set_teams_thread_limit_8_ kmp_set_teams_thread_limit_8
                kmp_set_teams_thread_limit_8_ __kmpc_set_thread_limit
            }
            CountsThreads {
                omp_get_num_threads omp_get_num_threads_
                omp_get_max_threads omp_get_max_threads_ omp_get_num_procs omp_get_num_procs_
                omp_get_thread_limit omp_get_thread_limit_ kmp_get_num_known_threads
                kmp_get_num_known_threads_ __kmpc_global_num_threads omp_get_team_size
                omp_get_team_size_ omp_get_team_size_8_ kmp_get_team_size_8 kmp_get_team_size_8_
                ompc_get_team_size
            }
            SetsNumThreads {
                omp_set_num_threads omp_set_num_threads_ omp_set_num_threads_8_
                kmp_set_num_threads_8 kmp_set_num_threads_8_ kmpc_set_num_threads_8
                ompc_set_num_threads
            }
            Waits {
                GOMP_barrier GOMP_barrier_cancel
                GOMP_loop_end GOMP_loop_end_cancel GOMP_workshare_task_reduction_unregister
                GOMP_sections_end GOMP_sections_end_cancel
                GOMP_single_copy_start GOMP_single_copy_end
                GOMP_critical_start GOMP_critical_name_start GOMP_atomic_start
                GOMP_ordered_start GOMP_doacross_wait GOMP_doacross_ull_wait
                GOMP_taskwait GOMP_taskwait_depend GOMP_taskgroup_end
                omp_set_lock omp_set_lock_ omp_set_nest_lock omp_set_nest_lock_
                __kmpc_barrier_master __kmpc_barrier_master_nowait
                __kmpc_reduce_nowait __kmpc_reduce __kmpc_end_reduce
                __kmpc_copyprivate __kmpc_copyprivate_light
                __kmpc_critical __kmpc_critical_with_hint __kmpc_atomic_start
                __kmpc_ordered __kmpc_doacross_wait
                __kmpc_omp_taskwait __kmpc_omp_taskwait_deps_51 __kmpc_omp_wait_deps
                __kmpc_end_taskgroup
                __kmpc_set_lock __kmpc_set_nest_lock
            }
            Chunks {
                GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next
                GOMP_loop_runtime_next GOMP_loop_nonmonotonic_dynamic_next
                GOMP_loop_nonmonotonic_guided_next GOMP_loop_nonmonotonic_runtime_next
                GOMP_loop_maybe_nonmonotonic_runtime_next GOMP_loop_ordered_static_next
                GOMP_loop_ordered_dynamic_next GOMP_loop_ordered_guided_next
                GOMP_loop_ordered_runtime_next GOMP_loop_ull_static_next
                GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next GOMP_loop_ull_runtime_next
                GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
                GOMP_loop_ull_nonmonotonic_runtime_next
                GOMP_loop_ull_maybe_nonmonotonic_runtime_next GOMP_loop_ull_ordered_static_next
                GOMP_loop_ull_ordered_dynamic_next GOMP_loop_ull_ordered_guided_next
                GOMP_loop_ull_ordered_runtime_next
                __kmpc_dispatch_next_4 __kmpc_dispatch_next_4u __kmpc_dispatch_next_8
                __kmpc_dispatch_next_8u
            }
            Taskloop { GOMP_taskloop GOMP_taskloop_ull }
            TaskBlock { __kmpc_omp_task_alloc }
            Task { GOMP_task }
            MakesTask {
                __kmpc_omp_task __kmpc_taskloop __kmpc_taskloop_5 __kmpc_omp_task_parts
                __kmpc_omp_task_with_deps GOMP_taskwait_depend_nowait
            }
            PushesNumThreads {
                __kmpc_push_num_threads __kmpc_push_num_threads_strict
                __kmpc_push_num_threads_list __kmpc_push_num_threads_list_strict
            }
            Teams { __kmpc_fork_teams }
            Marks {
                kokkosp_init_library kokkosp_finalize_library kokkosp_request_tool_settings
                kokkosp_begin_parallel_for kokkosp_end_parallel_for
                kokkosp_begin_parallel_reduce kokkosp_end_parallel_reduce
                kokkosp_begin_parallel_scan kokkosp_end_parallel_scan
                kokkosp_begin_fence kokkosp_end_fence
                kokkosp_push_profile_region kokkosp_pop_profile_region
                likwid_markerStartRegion likwid_markerStopRegion
                PAPI_hl_region_begin PAPI_hl_region_end
            }
            Unloads { dlclose __cxa_finalize }
            Exits { _exit _Exit }
            Execs { execve execv execvp execvpe execl execlp execle fexecve }
            UsesAffinity {
                sched_getaffinity pthread_getaffinity_np sched_setaffinity pthread_setaffinity_np
                kmp_set_affinity kmp_set_affinity_ kmp_get_affinity kmp_get_affinity_
                kmp_set_thread_affinity_mask_initial
            }
            BlockTime {
                kmp_get_blocktime kmp_get_blocktime_ kmp_set_blocktime kmp_set_blocktime_
                kmp_set_blocktime_8 kmp_set_blocktime_8_ kmpc_set_blocktime
            }
            HandsOnMask {
                pthread_create pthread_getattr_np posix_spawn posix_spawnp system popen vfork clone
                thrd_create timer_create mq_notify getaddrinfo_a wordexp
                aio_read aio_read64 aio_write aio_write64 aio_fsync aio_fsync64
                lio_listio lio_listio64 get_nprocs sysconf
            }
            Filters { prctl syscall }
            Mpi {
                MPI_Init PMPI_Init MPI_Init_thread PMPI_Init_thread MPI_Finalize PMPI_Finalize
                MPI_Send PMPI_Send MPI_Bsend PMPI_Bsend MPI_Ssend PMPI_Ssend MPI_Rsend PMPI_Rsend
                MPI_Recv PMPI_Recv MPI_Mrecv PMPI_Mrecv MPI_Sendrecv PMPI_Sendrecv
                MPI_Sendrecv_replace PMPI_Sendrecv_replace MPI_Isend PMPI_Isend
                MPI_Ibsend PMPI_Ibsend MPI_Issend PMPI_Issend MPI_Irsend PMPI_Irsend
                MPI_Irecv PMPI_Irecv MPI_Imrecv PMPI_Imrecv MPI_Isendrecv PMPI_Isendrecv
                MPI_Isendrecv_replace PMPI_Isendrecv_replace MPI_Start PMPI_Start
                MPI_Startall PMPI_Startall MPI_Probe PMPI_Probe MPI_Mprobe PMPI_Mprobe
                MPI_Iprobe PMPI_Iprobe MPI_Improbe PMPI_Improbe MPI_Wait PMPI_Wait
                MPI_Waitall PMPI_Waitall MPI_Waitany PMPI_Waitany MPI_Waitsome PMPI_Waitsome
                MPI_Test PMPI_Test MPI_Testall PMPI_Testall MPI_Testany PMPI_Testany
                MPI_Testsome PMPI_Testsome MPI_Barrier PMPI_Barrier MPI_Bcast PMPI_Bcast
                MPI_Reduce PMPI_Reduce MPI_Allreduce PMPI_Allreduce MPI_Scan PMPI_Scan
                MPI_Exscan PMPI_Exscan MPI_Reduce_scatter PMPI_Reduce_scatter
                MPI_Reduce_scatter_block PMPI_Reduce_scatter_block MPI_Gather PMPI_Gather
                MPI_Gatherv PMPI_Gatherv MPI_Scatter PMPI_Scatter MPI_Scatterv PMPI_Scatterv
                MPI_Allgather PMPI_Allgather MPI_Allgatherv PMPI_Allgatherv
                MPI_Alltoall PMPI_Alltoall MPI_Alltoallv PMPI_Alltoallv
                MPI_Alltoallw PMPI_Alltoallw MPI_Ibarrier PMPI_Ibarrier MPI_Ibcast PMPI_Ibcast
                MPI_Ireduce PMPI_Ireduce MPI_Iallreduce PMPI_Iallreduce MPI_Iscan PMPI_Iscan
                MPI_Iexscan PMPI_Iexscan MPI_Ireduce_scatter PMPI_Ireduce_scatter
                MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block MPI_Igather PMPI_Igather
                MPI_Igatherv PMPI_Igatherv MPI_Iscatter PMPI_Iscatter MPI_Iscatterv PMPI_Iscatterv
                MPI_Iallgather PMPI_Iallgather MPI_Iallgatherv PMPI_Iallgatherv
                MPI_Ialltoall PMPI_Ialltoall MPI_Ialltoallv PMPI_Ialltoallv
                MPI_Ialltoallw PMPI_Ialltoallw MPI_Neighbor_allgather PMPI_Neighbor_allgather
                MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv
                MPI_Neighbor_alltoall PMPI_Neighbor_alltoall
                MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv
                MPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw
                MPI_Ineighbor_allgather PMPI_Ineighbor_allgather
                MPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv
                MPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall
                MPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv
                MPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw MPI_Put PMPI_Put MPI_Get PMPI_Get
                MPI_Accumulate PMPI_Accumulate MPI_Get_accumulate PMPI_Get_accumulate
                MPI_Fetch_and_op PMPI_Fetch_and_op MPI_Compare_and_swap PMPI_Compare_and_swap
                MPI_Win_create PMPI_Win_create MPI_Win_allocate PMPI_Win_allocate
                MPI_Win_free PMPI_Win_free MPI_Win_fence PMPI_Win_fence MPI_Win_lock PMPI_Win_lock
                MPI_Win_lock_all PMPI_Win_lock_all MPI_Win_unlock PMPI_Win_unlock
                MPI_Win_unlock_all PMPI_Win_unlock_all MPI_Win_flush PMPI_Win_flush
                MPI_Win_flush_all PMPI_Win_flush_all MPI_Win_flush_local PMPI_Win_flush_local
                MPI_Win_flush_local_all PMPI_Win_flush_local_all MPI_Win_post PMPI_Win_post
                MPI_Win_start PMPI_Win_start MPI_Win_complete PMPI_Win_complete
                MPI_Win_wait PMPI_Win_wait MPI_Comm_dup PMPI_Comm_dup
                MPI_Comm_split PMPI_Comm_split MPI_Comm_split_type PMPI_Comm_split_type
                MPI_Comm_create PMPI_Comm_create MPI_Comm_create_group PMPI_Comm_create_group
                MPI_Comm_free PMPI_Comm_free MPI_Comm_disconnect PMPI_Comm_disconnect
                MPI_Comm_spawn PMPI_Comm_spawn MPI_Comm_accept PMPI_Comm_accept
                MPI_Comm_connect PMPI_Comm_connect MPI_Cart_create PMPI_Cart_create
                MPI_Dist_graph_create PMPI_Dist_graph_create
                MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent
                MPI_Intercomm_create PMPI_Intercomm_create
                MPI_Intercomm_merge PMPI_Intercomm_merge MPI_Send_c PMPI_Send_c
                MPI_Bsend_c PMPI_Bsend_c MPI_Ssend_c PMPI_Ssend_c MPI_Rsend_c PMPI_Rsend_c
                MPI_Recv_c PMPI_Recv_c MPI_Mrecv_c PMPI_Mrecv_c MPI_Sendrecv_c PMPI_Sendrecv_c
                MPI_Sendrecv_replace_c PMPI_Sendrecv_replace_c MPI_Isend_c PMPI_Isend_c
                MPI_Ibsend_c PMPI_Ibsend_c MPI_Issend_c PMPI_Issend_c MPI_Irsend_c PMPI_Irsend_c
                MPI_Irecv_c PMPI_Irecv_c MPI_Imrecv_c PMPI_Imrecv_c
                MPI_Isendrecv_c PMPI_Isendrecv_c MPI_Isendrecv_replace_c PMPI_Isendrecv_replace_c
                MPI_Bcast_c PMPI_Bcast_c MPI_Reduce_c PMPI_Reduce_c
                MPI_Allreduce_c PMPI_Allreduce_c MPI_Scan_c PMPI_Scan_c MPI_Exscan_c PMPI_Exscan_c
                MPI_Reduce_scatter_c PMPI_Reduce_scatter_c
                MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c MPI_Gather_c PMPI_Gather_c
                MPI_Gatherv_c PMPI_Gatherv_c MPI_Scatter_c PMPI_Scatter_c
                MPI_Scatterv_c PMPI_Scatterv_c MPI_Allgather_c PMPI_Allgather_c
                MPI_Allgatherv_c PMPI_Allgatherv_c MPI_Alltoall_c PMPI_Alltoall_c
                MPI_Alltoallv_c PMPI_Alltoallv_c MPI_Alltoallw_c PMPI_Alltoallw_c
                MPI_Ibcast_c PMPI_Ibcast_c MPI_Ireduce_c PMPI_Ireduce_c
                MPI_Iallreduce_c PMPI_Iallreduce_c MPI_Iscan_c PMPI_Iscan_c
                MPI_Iexscan_c PMPI_Iexscan_c MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c
                MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c
                MPI_Igather_c PMPI_Igather_c MPI_Igatherv_c PMPI_Igatherv_c
                MPI_Iscatter_c PMPI_Iscatter_c MPI_Iscatterv_c PMPI_Iscatterv_c
                MPI_Iallgather_c PMPI_Iallgather_c MPI_Iallgatherv_c PMPI_Iallgatherv_c
                MPI_Ialltoall_c PMPI_Ialltoall_c MPI_Ialltoallv_c PMPI_Ialltoallv_c
                MPI_Ialltoallw_c PMPI_Ialltoallw_c
                MPI_Neighbor_allgather_c PMPI_Neighbor_allgather_c
                MPI_Neighbor_allgatherv_c PMPI_Neighbor_allgatherv_c
                MPI_Neighbor_alltoall_c PMPI_Neighbor_alltoall_c
                MPI_Neighbor_alltoallv_c PMPI_Neighbor_alltoallv_c
                MPI_Neighbor_alltoallw_c PMPI_Neighbor_alltoallw_c
                MPI_Ineighbor_allgather_c PMPI_Ineighbor_allgather_c
                MPI_Ineighbor_allgatherv_c PMPI_Ineighbor_allgatherv_c
                MPI_Ineighbor_alltoall_c PMPI_Ineighbor_alltoall_c
                MPI_Ineighbor_alltoallv_c PMPI_Ineighbor_alltoallv_c
                MPI_Ineighbor_alltoallw_c PMPI_Ineighbor_alltoallw_c MPI_Put_c PMPI_Put_c
                MPI_Get_c PMPI_Get_c MPI_Accumulate_c PMPI_Accumulate_c
                MPI_Get_accumulate_c PMPI_Get_accumulate_c MPI_Win_create_c PMPI_Win_create_c
                MPI_Win_allocate_c PMPI_Win_allocate_c
            }
        }
    };
}
pub(crate) use functions;

macro_rules! declare {
    ({ $($called:ident)+ } $($kind:ident { $($watched:ident)+ })+) => {
        /// A function of a runtime, of the C library or of MPI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        #[allow(non_camel_case_types)]
        pub(crate) enum Function { $($called,)+ $($($watched,)+)+ }

        const ALL: &[(Function, &CStr, CallKind)] = &[
            $((Function::$called, name(concat!(stringify!($called), "\0")), CallKind::Changed),)+
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

    /// Whether a call may start a process that uses the caller's memory.
    pub(crate) fn shares_memory(self) -> bool {
        matches!(self, Function::vfork | Function::clone)
    }

    /// Whether a call that uses affinity sets that of a thread.
    pub(crate) fn sets_mask(self) -> bool {
        self.name().contains("set")
    }

    /// The meaning of a call, if calls are only watched.
    #[inline]
    pub(crate) fn kind(self) -> CallKind {
        ALL[self as usize].2
    }

    /// Whether a call matters, once its real function is known. Some matter only if this process `times_waits`.
    pub(crate) fn matters(self, times_waits: bool) -> bool {
        use CallKind::{Chunks, CountsThreads, Mpi, Neutral, TaskBlock, Waits};
        match self.kind() {
            Neutral | CountsThreads => false,
            Waits | Chunks | Mpi | TaskBlock => times_waits,
            _ => true,
        }
    }

    /// The function of MPI's profiling interface that does the same; itself for one of that interface.
    pub(crate) fn profiling(self) -> Function {
        let at = self as usize;
        ALL[if self.name().starts_with('P') { at } else { at + 1 }].0
    }

    /// The name of a function of MPI without prefix and suffix of its other forms.
    pub(crate) fn mpi_name(self) -> &'static str {
        let name = self.name();
        let name = name.strip_prefix('P').unwrap_or(name);
        name.strip_suffix("_c").unwrap_or(name)
    }

    /// The function of a number that an assembly entry passes.
    #[inline]
    pub(crate) fn numbered(number: u32) -> Function {
        ALL[number as usize].0
    }
}

#[cfg(test)]
#[path = "function/exports.rs"]
mod exports;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_of_mpi_is_followed_by_its_profiling_name() {
        let mpi: Vec<Function> =
            ALL.iter().filter(|(.., kind)| *kind == CallKind::Mpi).map(|one| one.0).collect();
        assert!(mpi.len() > 200 && mpi.len() % 2 == 0);
        for pair in mpi.chunks_exact(2) {
            assert_eq!(pair[1].name(), format!("P{}", pair[0].name()));
            assert_eq!((pair[0].profiling(), pair[1].profiling()), (pair[1], pair[1]));
        }
        assert_eq!(Function::PMPI_Send_c.mpi_name(), "MPI_Send");
        assert_eq!(Function::MPI_Init_thread.mpi_name(), "MPI_Init_thread");
    }
}
