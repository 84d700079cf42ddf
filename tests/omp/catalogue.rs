//! The programs, and what is known of each beforehand.

use crate::compilers::Flavour;

/// How many regions a program runs in all its processes together.
#[derive(Clone, Copy)]
pub(crate) enum Regions {
    Always(u64),
    /// So many, and as many again for every thread.
    AndPerThread(u64, u64),
    /// clang calls no entry for a region whose `if` says no.
    ByCompiler {
        gcc: u64,
        clang: u64,
    },
    /// Not the same every time.
    Unsteady,
}

/// A source file of `programs/` and how it is run.
pub(crate) struct Program {
    pub(crate) file: &'static str,
    regions: Regions,
    pub(crate) variables: &'static [(&'static str, &'static str)],
    except: &'static [(Flavour, &'static str)],
    threads: &'static [u32],
    /// The sources of objects that it loads.
    pub(crate) parts: &'static [&'static str],
    /// Whether not all can be counted: it leaves no descriptors to count with, or forks in a region.
    pub(crate) may_go_uncounted: bool,
    /// Whether it prints or checks something that depends on the sizes of its teams, so that nobody may vouch for it.
    pub(crate) depends_on_its_teams: bool,
    /// Whether regions of it run inside of others.
    nests: bool,
    /// Whether they run inside of leagues that OMPT alone tells of.
    nests_in_leagues: bool,
    /// Whether one thread starts all of its regions, which are searched or held.
    pub(crate) has_one_root: bool,
}

impl Program {
    const fn new(file: &'static str, regions: Regions) -> Program {
        Program {
            file,
            regions,
            variables: &[],
            except: &[],
            threads: &[1, 2, 4, 8],
            parts: &[],
            may_go_uncounted: false,
            depends_on_its_teams: false,
            nests: false,
            nests_in_leagues: false,
            has_one_root: false,
        }
    }

    const fn with(mut self, variables: &'static [(&'static str, &'static str)]) -> Program {
        self.variables = variables;
        self
    }

    /// Does not run in these, for the reason given, even without the library.
    const fn except(mut self, flavours: &'static [(Flavour, &'static str)]) -> Program {
        self.except = flavours;
        self
    }

    const fn loads(mut self, parts: &'static [&'static str]) -> Program {
        self.parts = parts;
        self
    }

    const fn threads_of(mut self, threads: &'static [u32]) -> Program {
        self.threads = threads;
        self
    }

    const fn may_go_uncounted(mut self) -> Program {
        self.may_go_uncounted = true;
        self
    }

    const fn nests(mut self) -> Program {
        self.nests = true;
        self
    }

    const fn nests_in_leagues(mut self) -> Program {
        self.nests_in_leagues = true;
        self
    }

    const fn has_one_root(mut self) -> Program {
        self.has_one_root = true;
        self
    }

    /// Whether a region of it may run inside of another that is recorded.
    pub(crate) fn may_nest(&self, flavour: Flavour) -> bool {
        self.nests || (self.nests_in_leagues && flavour == Flavour::ClangByOmpt)
    }

    const fn depends_on_its_teams(mut self) -> Program {
        self.depends_on_its_teams = true;
        self
    }

    pub(crate) fn name(&self) -> &str {
        self.file.split('.').next().unwrap_or(self.file)
    }

    pub(crate) fn threads(&self) -> &[u32] {
        self.threads
    }

    /// Why it does not run in this flavour.
    pub(crate) fn exception(&self, flavour: Flavour) -> Option<&'static str> {
        self.except.iter().find(|(which, _)| *which == flavour).map(|(_, why)| *why)
    }

    /// How many regions it runs; `None` if nobody can say.
    pub(crate) fn regions(&self, flavour: Flavour, threads: u32) -> Option<u64> {
        match self.regions {
            Regions::Always(count) => Some(count),
            Regions::AndPerThread(count, each) => Some(count + each * u64::from(threads)),
            Regions::ByCompiler { gcc, clang } => {
                Some(if flavour == Flavour::Clang { clang } else { gcc })
            }
            Regions::Unsteady => None,
        }
    }
}

use Flavour::{Clang, ClangByOmpt, Gcc, GccOnLibomp};
use Regions::{Always, AndPerThread, ByCompiler, Unsteady};

/// Intel's libomp warns of each fork in a region, and of as many as there happen to be.
const QUIET_FORKS: &[(&str, &str)] = &[("KMP_WARNINGS", "false")];

/// Glibc's `PTHREAD_STACK_MIN`: runtimes take their default for less, which is MiB.
const SMALLEST_STACK: &str = if cfg!(target_arch = "aarch64") { "128K" } else { "16K" };

const SMALL_STACK: &str = if cfg!(target_arch = "aarch64") { "160K" } else { "64K" };

const OMPT_HAS_ENDED: &str = "the runtime ends OMPT before the last regions";
const ASKS_THE_LOADER: &str = "libomp asks the loader as it starts, and hangs (LLVM 14)";
const ASKED_AS_IT_STARTS: &str = "a handler that asks libomp as it starts crashes (LLVM 14)";
const CALLED_BY_LIBOMP: &str = "libomp calls functions of these names";
const NOT_IN_GOMP_LAYER: &str = "libomp's GOMP entries do not run it (LLVM 14)";

/// Every program. Numbers of regions are counted from the source.
pub(crate) const PROGRAMS: &[Program] = &[
    Program::new("affinity.c", Always(50)),
    Program::new("all_keys.c", Always(40)),
    Program::new("asked_then.c", Always(260)).nests(),
    Program::new("at_exit.c", Always(50)).except(&[(ClangByOmpt, OMPT_HAS_ENDED)]),
    Program::new("before_main.cc", Always(66)),
    Program::new("cancel.c", Always(120))
        .with(&[("OMP_CANCELLATION", "true")])
        .except(&[(GccOnLibomp, NOT_IN_GOMP_LAYER)]),
    Program::new("captures.cc", Always(200)),
    // More threads than the machine has make it slow alone already.
    Program::new("changing_length.c", Always(360)).threads_of(&[1, 2, 4]).has_one_root(),
    Program::new("closed_descriptors.c", Always(60)).may_go_uncounted(),
    Program::new("common_block.f90", Always(62)).depends_on_its_teams(),
    Program::new("constructor_of_plugin.c", Always(120)).loads(&["part_one", "part_constructor"]),
    Program::new("counted_before.c", Always(160)).depends_on_its_teams(),
    Program::new("deadline.c", Always(440)),
    Program::new("decided.c", Always(120)),
    Program::new("deep_stacks.c", Always(20)).with(&[("OMP_STACKSIZE", "8M")]),
    Program::new("display_affinity.c", Always(240))
        .with(&[("OMP_DISPLAY_AFFINITY", "true"), ("OMP_AFFINITY_FORMAT", "of %N")]),
    Program::new("doacross.c", Always(20)).except(&[(GccOnLibomp, NOT_IN_GOMP_LAYER)]),
    Program::new("doacross_levels.c", Always(22)).except(&[(GccOnLibomp, NOT_IN_GOMP_LAYER)]),
    Program::new("dynamic_chunks.c", Always(180)),
    Program::new("dynamic_chunks_down.c", Always(60)).except(&[(GccOnLibomp, NOT_IN_GOMP_LAYER)]),
    Program::new("dynamic_teams.c", Always(60)),
    Program::new("exceptions.cc", Always(80)),
    Program::new("exec_other.c", Always(50)),
    Program::new("exit_in_handler.c", Unsteady),
    Program::new("exit_in_region.c", Always(30)),
    Program::new("exit_in_worker.c", Always(30)).depends_on_its_teams(),
    Program::new("few_descriptors.c", Always(50)).may_go_uncounted(),
    Program::new("float_traps.c", Always(142)),
    Program::new("fork_and_work.c", Always(70))
        .except(&[(Gcc, "libgomp hangs in a child that was forked after a region")]),
    Program::new("fork_before.c", Always(80)),
    Program::new("fork_between.c", Always(50)),
    Program::new("fork_in_crowd.c", Unsteady).with(QUIET_FORKS).nests(),
    Program::new("fork_in_region.c", Unsteady).with(QUIET_FORKS),
    Program::new("fork_leaves_region.c", Always(42)).may_go_uncounted().except(&[
        (GccOnLibomp, "libomp stops in a child that was forked in a region"),
        (Clang, "libomp stops in a child that was forked in a region"),
        (ClangByOmpt, "libomp stops in a child that was forked in a region"),
    ]),
    Program::new("handler_asks.c", Always(300)).except(&[
        (GccOnLibomp, ASKED_AS_IT_STARTS),
        (Clang, ASKED_AS_IT_STARTS),
        (ClangByOmpt, ASKED_AS_IT_STARTS),
    ]),
    Program::new("held_then.c", ByCompiler { gcc: 892, clang: 891 })
        .threads_of(&[1, 2, 4])
        .depends_on_its_teams(),
    Program::new("hoisted.c", Always(1)),
    Program::new("if_clause.c", ByCompiler { gcc: 120, clang: 50 }),
    Program::new("late_library.c", Always(175)).loads(&["part_one", "part_two"]),
    Program::new("late_query.c", Always(201)).depends_on_its_teams(),
    Program::new("legacy_entries.c", Always(120)).except(&[
        (Clang, "it calls the entries of libgomp"),
        (ClangByOmpt, "it calls the entries of libgomp"),
    ]),
    Program::new("longjmp.c", Always(40)),
    Program::new("loop_kinds.c", Always(60)),
    Program::new("loops.f90", Always(81)),
    Program::new("main_leaves.c", Always(50)).except(&[(ClangByOmpt, OMPT_HAS_ENDED)]),
    Program::new("many_arguments.c", Always(200)),
    Program::new("many_roots.c", Always(500)),
    Program::new("members.c", Always(600)).depends_on_its_teams(),
    Program::new("nested.c", AndPerThread(15, 15)).nests().depends_on_its_teams(),
    Program::new("nowait_chain.c", Always(160)),
    Program::new("num_threads.c", Always(121)),
    Program::new("own_descriptors.c", Always(40)).may_go_uncounted(),
    Program::new("own_names.c", Always(50)),
    Program::new("own_names_in_cpp.cc", Always(50)),
    Program::new("own_names_of_libomp.c", Always(50)).except(&[
        (GccOnLibomp, CALLED_BY_LIBOMP),
        (Clang, CALLED_BY_LIBOMP),
        (ClangByOmpt, CALLED_BY_LIBOMP),
    ]),
    Program::new("own_wrappers.c", Always(60)),
    Program::new("pause.c", Always(75)),
    Program::new("proc_bind.c", Always(90))
        .with(&[("OMP_PLACES", "threads")])
        .depends_on_its_teams(),
    Program::new("queries.c", Always(154)).depends_on_its_teams(),
    Program::new("quick_ends.c", Always(40)),
    Program::new("rank_by_call.c", Always(101)).depends_on_its_teams(),
    Program::new("recursion.c", Always(200)).nests(),
    Program::new("reductions.c", Always(40)),
    Program::new("scan.c", Always(80)).except(&[(GccOnLibomp, NOT_IN_GOMP_LAYER)]),
    Program::new("schedules.c", Always(375)),
    Program::new("second_runtime.c", Always(300)).loads(&["part_numbers"]).depends_on_its_teams(),
    Program::new("sections.c", Always(120)),
    Program::new("seeds_by_thread.c", Always(200)).depends_on_its_teams(),
    Program::new("short_regions.c", Always(4_912)).threads_of(&[1, 2, 4]),
    Program::new("signals.c", Unsteady),
    Program::new("sized_each_time.c", Always(80)).depends_on_its_teams(),
    Program::new("sized_once.c", Always(200)).depends_on_its_teams(),
    Program::new("smallest_stacks.c", Always(120)).with(&[("OMP_STACKSIZE", SMALLEST_STACK)]),
    Program::new("small_stacks.c", Always(60)).with(&[("OMP_STACKSIZE", SMALL_STACK)]),
    Program::new("spawn_other.c", Always(50)),
    Program::new("state_by_thread.c", Always(300)).depends_on_its_teams(),
    Program::new("static_schedules.c", Always(270)),
    Program::new("synchronisation.c", Always(30)),
    Program::new("target.c", Unsteady)
        .except(&[(GccOnLibomp, NOT_IN_GOMP_LAYER)])
        .nests_in_leagues(),
    Program::new("task_depend.c", Always(20)),
    Program::new("task_reductions.c", Always(120)),
    Program::new("taskloop.c", Always(40)).except(&[(GccOnLibomp, NOT_IN_GOMP_LAYER)]),
    Program::new("tasks.c", Always(24)),
    Program::new("teams.c", Unsteady).nests(),
    Program::new("thread_local.c", Always(101)).depends_on_its_teams(),
    Program::new("thread_objects.cc", Always(31))
        .depends_on_its_teams()
        .except(&[(ClangByOmpt, OMPT_HAS_ENDED)]),
    Program::new("thread_of_plugin.c", Always(30)).loads(&["part_thread"]).except(&[
        (GccOnLibomp, ASKS_THE_LOADER),
        (Clang, ASKS_THE_LOADER),
        (ClangByOmpt, ASKS_THE_LOADER),
    ]),
    Program::new("threadprivate.c", Always(162)).depends_on_its_teams(),
    Program::new("threads_in_region.c", Always(88)),
    // More threads than the machine has make it slow alone already.
    Program::new("tiny_regions.c", Always(20_000)).threads_of(&[1, 2]),
    Program::new("two_phases.c", Always(80)).has_one_root(),
    Program::new("user_reduction.cc", Always(40)),
    Program::new("uses_of_numbers.c", Always(480)).depends_on_its_teams(),
    Program::new("within_loader.c", Always(30)),
    Program::new("workshare.f90", Always(60)),
];
