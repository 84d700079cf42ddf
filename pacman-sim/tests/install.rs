//! The platform of a process, in a process of its own: it is chosen once.

use pacman_core::platform::PlatformRef;
use pacman_core::{Binding, ErrorKind, Placement, Session, Topology, event, platform};
use pacman_sim::Machine;

#[test]
fn everything_follows_the_installed_machine_and_no_other_can_be_installed() {
    let machine = Machine::scripted("p4").unwrap();
    platform::install((&machine).into()).unwrap();
    platform::install((&machine).into()).unwrap();
    assert_eq!(platform::current().simulation().unwrap().name, "p4");

    let topology = Topology::detect().unwrap();
    assert_eq!(topology, machine.topology());
    assert_eq!(topology.processors(), Some(platform::current().processors()));
    assert_eq!(event::machine::model(), machine.cpu());

    let session = Session::builder("installed").events("INSTRUCTIONS");
    let session = session.placement(topology.clone(), Placement::Compact).start().unwrap();
    let work = session.phase("work").unwrap();
    let thread = session.attach().unwrap();
    thread.run(work, || machine.execute(1000)).unwrap();
    let row = &session.report().threads[0];
    assert_eq!(row.phases[0].counts[0].raw.sum, 1000);
    assert_eq!(row.place.unwrap().cpu, machine.current_cpu());

    for (other, kind) in [("haswell", ErrorKind::Conflict), ("p5", ErrorKind::InvalidInput)] {
        let error = pacman_sim::simulate(other).unwrap_err();
        assert_eq!(error.kind(), kind, "{other}");
    }
    let other = Machine::scripted("haswell").unwrap();
    let error = platform::install((&other).into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot count on haswell now: this process has counted on p4 already; choose the machine first"
    );
}

#[test]
fn another_machine_than_the_installed_one_is_used_where_it_is_named() {
    let machine = Machine::scripted("haswell").unwrap();
    let topology = Topology::of(PlatformRef::from(&machine)).unwrap();
    let place = topology.place(3).unwrap();
    let before = machine.current_cpu();
    let binding = Binding::bind(&topology, &place).unwrap();
    assert_eq!(machine.current_cpu(), 3);
    drop(binding);
    assert_eq!(machine.current_cpu(), before);
    let real = Topology::of(platform::host()).unwrap();
    assert_eq!(real.processors(), Some(platform::host().processors()));
    assert!(platform::host().simulation().is_none());
    assert_ne!(real.processors(), topology.processors());
}
