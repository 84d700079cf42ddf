//! The processor time of the command, as the kernel accounts it.

use std::time::Duration;

use serde::Serialize;

/// Processor time of the command and of the child processes that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// User time.
    pub user: Duration,
    /// System time.
    pub system: Duration,
}

/// The members of JSON; null where no command was counted to its end.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct UsageDocument {
    /// User time of the command and of the child processes that it waited for, as time(1) has it;
    /// null with `-a` and `-p`, for an interval, and while it runs.
    user_ns: Option<u64>,
    /// System time of the same.
    system_ns: Option<u64>,
    /// Both as a multiple of `elapsed_ns`: the mean number of processors in use; null like them.
    #[cfg_attr(test, schemars(range(min = 0)))]
    cpus_used: Option<f64>,
}

impl Usage {
    /// The time since an earlier reading.
    pub fn since(self, earlier: Usage) -> Usage {
        Usage {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
        }
    }

    /// The sum of two.
    pub fn and(self, other: Usage) -> Usage {
        Usage { user: self.user + other.user, system: self.system + other.system }
    }

    /// The mean number of CPUs in use; `None` without a time.
    pub fn cpus(self, elapsed: Duration) -> Option<f64> {
        let busy = (self.user + self.system).as_secs_f64();
        (!elapsed.is_zero()).then(|| busy / elapsed.as_secs_f64())
    }
}

impl UsageDocument {
    pub(super) fn of(usage: Option<Usage>, elapsed: Duration) -> UsageDocument {
        UsageDocument {
            user_ns: usage.map(|usage| nanos(usage.user)),
            system_ns: usage.map(|usage| nanos(usage.system)),
            cpus_used: usage.and_then(|usage| usage.cpus(elapsed)),
        }
    }
}

/// The fields of CSV, as many as [`COLUMNS`].
pub(super) fn fields(usage: Option<Usage>, elapsed: Duration) -> [String; 3] {
    let UsageDocument { user_ns, system_ns, cpus_used } = UsageDocument::of(usage, elapsed);
    let time = |time: Option<u64>| time.map_or_else(String::new, |time| time.to_string());
    let cpus = cpus_used.map_or_else(String::new, |cpus| format!("{cpus:.3}"));
    [time(user_ns), time(system_ns), cpus]
}

/// The command's, so the same in each row of a run.
pub(super) const COLUMNS: [&str; 3] = ["command_user_ns", "command_system_ns", "command_cpus_used"];

pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_the_time_of_both_modes_in_the_elapsed_time() {
        let before = Usage { user: Duration::from_secs(1), system: Duration::ZERO };
        let after = Usage { user: Duration::from_secs(4), system: Duration::from_secs(1) };
        let usage = after.since(before);
        assert_eq!(usage.cpus(Duration::from_secs(2)), Some(2.0));
        assert_eq!(usage.cpus(Duration::ZERO), None);
        let fields = fields(Some(usage), Duration::from_secs(2));
        assert_eq!(fields, ["3000000000", "1000000000", "2.000"]);
        assert_eq!(super::fields(None, Duration::from_secs(2)), ["", "", ""]);
    }
}
