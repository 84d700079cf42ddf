//! On which NUMA nodes threads run.

use pacman_adapt::phases::{SimPhase, SmtMachine};
use pacman_adapt::{Adapter, Rules, State};
use pacman_topology::Placement;

use super::{controller, machine, on, run};

/// Two nodes of eight cores.
fn size() -> SmtMachine {
    SmtMachine::new(16, 1).with_nodes(2)
}

fn held(law: SimPhase) -> String {
    let mut phase = controller(&size().as_text(), Rules::default());
    run(&mut phase, 300, |on| law.seconds(on));
    assert_eq!(phase.state(), State::Holding, "{}", phase.why());
    phase.next().to_string()
}

#[test]
fn threads_that_share_stay_on_one_node_and_threads_that_need_memory_use_both() {
    let parallel = SimPhase { nodes: 2, ..SimPhase::parallel() };
    // Lines that move between nodes cost four times as much.
    let sharing = SimPhase { coherency: 0.02, remote: 4.0, ..parallel };
    let best = sharing.best(size().configurations()).expect("a configuration").0;
    assert_eq!(best.nodes(), Some(1), "{best}");
    let chosen = held(sharing);
    assert!(chosen.ends_with("/1"), "{chosen}");
    // The memory feeds four threads, two on each node; each further thread disturbs a little.
    let streaming = SimPhase { bandwidth: 4.0, coherency: 0.002, ..parallel };
    let best = streaming.best(size().configurations()).expect("a configuration").0;
    assert_eq!(best.nodes(), Some(2), "{best}");
    let chosen = held(streaming);
    assert!(chosen.ends_with("/2"), "{chosen}");
    assert_eq!(held(parallel), "16x1");
}

/// A team as large as the program's own, on one of two nodes.
#[test]
fn a_limited_team_has_a_choice_of_nodes_as_well() {
    let candidates = pacman_adapt::Candidates::of(&machine("2 nodes, 4 cores"), Some(4)).unwrap();
    let names: Vec<String> = candidates.all().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["1x1", "2x1/1", "2x1/2", "3x1/1", "4x1", "4x1/1", "4x1/2"]);
    assert_eq!(candidates.default(), on("4x1"), "the system places the default");
}

#[test]
fn the_caller_s_order_of_cores_leaves_no_choice_of_nodes() {
    let names = |adapter: &Adapter| -> Vec<String> {
        adapter.candidates().all().iter().map(ToString::to_string).collect()
    };
    let builder = || Adapter::builder(machine("2 packages, 2 cores"));
    assert_eq!(names(&builder().build().unwrap()), ["1x1", "2x1/1", "2x1/2", "3x1", "4x1"]);
    let ordered = builder().placement(Placement::Scatter).build().unwrap();
    assert_eq!(names(&ordered), ["1x1", "2x1", "3x1", "4x1"]);
    let cpus: Vec<u32> = ordered.places(on("2x1")).unwrap().iter().map(|it| it.cpu()).collect();
    assert_eq!(cpus, [0, 2], "as it says");
    // The machine lost a package, and with it the choice.
    let adapter = builder().build().unwrap();
    adapter.machine_changed(machine("2 cores")).unwrap();
    assert_eq!(names(&adapter), ["1x1", "2x1"]);
}
