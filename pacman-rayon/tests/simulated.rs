//! Workers on a simulated machine: each has its own counts.

use std::time::Duration;

use pacman_adapt::Adapter;
use pacman_core::{Session, Topology};
use pacman_rayon::{AdaptivePool, worker_times};

#[test]
fn workers_of_a_simulated_machine_have_their_own_counts() {
    pacman_sim::simulate("p4").unwrap();
    let session = Session::builder("simulated").events("task-clock,INSTRUCTIONS").start().unwrap();
    let builder =
        Adapter::builder(Topology::detect().unwrap()).break_even(Duration::from_secs(3600));
    let pool = AdaptivePool::counted(builder, session.clone()).unwrap();
    let workers = pool.adapter().candidates().default().threads();
    assert!(workers > 1);
    let phase = pool.phase("all").unwrap();
    phase.run(|| drop(rayon::broadcast(|context| std::hint::black_box(context.index())))).unwrap();
    let report = session.report();
    assert!(report.simulated);
    let times = worker_times(&report, "all").unwrap();
    assert_eq!(times.len(), workers as usize);
    let mut cpus: Vec<_> = times.iter().map(|worker| worker.place.unwrap().cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    assert_eq!(cpus.len(), workers as usize, "each worker has its context");
    for worker in &times {
        assert_eq!(worker.counts[1].0, "INSTRUCTIONS");
        assert!(worker.counts[1].1 > 0, "{worker:?}");
    }
}
