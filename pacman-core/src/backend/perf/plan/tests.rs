use super::*;
use pacman_events::CpuModel;

fn plan(cpu: &str, names: &[&str], paranoid: i32) -> Plan {
    let cpu = CpuModel::named(cpu).unwrap();
    let events: Vec<Event> = names.iter().map(|name| Event::on(cpu, name).unwrap()).collect();
    let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
    permissions.paranoid = Some(paranoid);
    Plan::new(&events, Sharing::Pinned, &permissions).unwrap()
}

fn members(plan: &Plan) -> Vec<&str> {
    plan.members.iter().map(|member| member.name.as_str()).collect()
}

#[test]
fn hardware_leads_and_counts_find_their_places() {
    let plan = plan("skl", &["task-clock", "CYCLES", "page-faults", "INSTRUCTIONS"], 1);
    assert_eq!(members(&plan), ["CYCLES", "INSTRUCTIONS", "task-clock", "page-faults"]);
    let to: Vec<usize> = plan.sums.unwrap().iter().map(|sum| sum.to).collect();
    assert_eq!(to, [1, 3, 0, 2]);
    assert_eq!(plan.user_reads, UserReads::Missing, "software needs the kernel anyway");
}

#[test]
fn plain_hardware_is_read_as_it_stands() {
    let plan = plan("skl", &["CYCLES", "INSTRUCTIONS"], 2);
    assert_eq!(plan.sums, None);
}

#[test]
fn no_counter_of_a_hybrid_is_read_in_user_mode() {
    let cpu = CpuModel::named("skl").unwrap();
    let events = [Event::on(cpu, "CYCLES").unwrap()];
    let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
    let reads = |permissions: &PerfPermissions| {
        Plan::new(&events, Sharing::Pinned, permissions).unwrap().user_reads
    };
    for (offered, planned) in [
        (UserReads::ByPage, UserReads::ByPage),
        (UserReads::OnRequest, UserReads::OnRequest),
        (UserReads::SwitchedOff, UserReads::Missing),
        (UserReads::Missing, UserReads::Missing),
    ] {
        permissions.user_reads = offered;
        assert_eq!(reads(&permissions), planned, "all cores are alike");
    }
    permissions.user_reads = UserReads::ByPage;
    permissions.hybrid = true;
    let hidden = reads(&permissions);
    assert_eq!(hidden, UserReads::Missing, "CPUID tells where /sys is hidden, as in a container");
    (permissions.hybrid, permissions.pmus) = (false, vec!["cpu_atom".into(), "cpu_core".into()]);
    assert_eq!(reads(&permissions), UserReads::Missing);
}

#[test]
fn an_expression_takes_a_counter_a_term() {
    let plan = plan("p4", &["INSTRUCTIONS", "STALL_CYCLES"], 2);
    assert_eq!(plan.members.len(), 3);
    let sums = plan.sums.unwrap();
    assert_eq!(sums[1], Sum { from: 1, to: 1, coefficient: 1 });
    assert_eq!(sums[2], Sum { from: 2, to: 1, coefficient: -1 });
}

#[test]
fn what_may_not_be_opened_comes_from_the_ledgers() {
    let unprivileged = plan("skl", &["context-switches", "task-clock"], 2);
    assert_eq!(members(&unprivileged), ["task-clock"]);
    assert_eq!(unprivileged.accounting, [(1, KernelAccounting::ContextSwitches)]);
    let refused = plan("skl", &["task-clock", "page-faults"], 1);
    let again = refused.without(1, Errno(libc::EPERM)).unwrap();
    assert_eq!(members(&again), ["task-clock"]);
    assert_eq!(again.accounting, [(1, KernelAccounting::PageFaults)]);
    assert!(refused.without(0, Errno(libc::EPERM)).is_none(), "the clock has no account");
    assert!(refused.without(1, Errno(libc::EMFILE)).is_none(), "nobody forbade it");
}
