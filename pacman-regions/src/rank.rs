//! The rank of a process and the name of its job, from the environment that its launcher made.

use std::ffi::OsString;

use crate::Rank;

/// The variables of launchers: rank, and number of ranks. The launcher of the MPI library comes before
/// the batch system, whose variables describe the step that ran the launcher.
const VARIABLES: [(&str, &str); 2] =
    [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")];

/// Names of a job, the launcher's before the batch system's. One of them is the same for all ranks of a
/// run, and for no other run.
const JOBS: [&str; 5] =
    ["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "PALS_APID", "FLUX_JOB_ID"];

impl Rank {
    /// Reads the rank from environment variables; `None` without a valid rank.
    ///
    /// Slurm gives a batch script the variables of a task and starts it once. Only the variables of a
    /// step show that `srun` started the process.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Option<Rank> {
        let number = |name: &str| number(&variable, name);
        let valid = |rank: u32, ranks: Option<u32>| Rank {
            rank,
            ranks: ranks.filter(|ranks| rank < *ranks),
        };
        let launched =
            VARIABLES.iter().find_map(|(rank, ranks)| Some(valid(number(rank)?, number(ranks))));
        launched.or_else(|| {
            let step = slurm_step(&variable);
            let tasks = || number("SLURM_STEP_NUM_TASKS").or_else(|| number("SLURM_NTASKS"));
            let tasks = step.as_ref().and_then(|_| tasks());
            let rank = number("PMIX_RANK").or_else(|| step.and_then(|_| number("SLURM_PROCID")))?;
            Some(valid(rank, tasks))
        })
    }

    /// The launcher's name of the job, if it gives one.
    pub fn job(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
        let text = |name: &str| variable(name)?.into_string().ok().filter(|text| !text.is_empty());
        JOBS.iter().find_map(|name| text(name)).or_else(|| {
            let step = slurm_step(&variable)?;
            // A job that starts again has the same numbers.
            let again = text("SLURM_RESTART_COUNT").unwrap_or_default();
            Some(format!("{}.{step}.{again}", text("SLURM_JOB_ID")?))
        })
    }
}

/// The number of the step that `srun` made; `None` in a batch script or an interactive shell, which
/// Slurm starts as steps with the highest numbers.
fn slurm_step(variable: impl Fn(&str) -> Option<OsString>) -> Option<u32> {
    let step = number(&variable, "SLURM_STEP_ID").or_else(|| number(&variable, "SLURM_STEPID"));
    step.filter(|step| *step < SLURM_OWN_STEPS)
}

/// Slurm's steps from this number on have no tasks of `srun`.
const SLURM_OWN_STEPS: u32 = 0xffff_fff0;

fn number(variable: impl Fn(&str) -> Option<OsString>, name: &str) -> Option<u32> {
    variable(name)?.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| {
            let known = variables.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| OsString::from(value))
        }
    }

    fn of(variables: &[(&str, &str)]) -> Option<(u32, Option<u32>)> {
        Rank::read(get(variables)).map(|rank| (rank.rank, rank.ranks))
    }

    #[test]
    fn each_launcher_has_its_variables() {
        assert_eq!(of(&[("PMI_RANK", "3"), ("PMI_SIZE", "4")]), Some((3, Some(4))));
        assert_eq!(of(&[("PMIX_RANK", "0")]), Some((0, None)));
        let slurm = [("SLURM_STEP_ID", "0"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")];
        assert_eq!(of(&slurm), Some((0, Some(2))));
        let inner = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "8")];
        let all: Vec<_> = slurm.into_iter().chain(inner).collect();
        assert_eq!(of(&all), Some((1, Some(8))), "the inner launcher");
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn slurm_distinguishes_a_task_from_a_batch_script() {
        let batch = [("SLURM_JOB_ID", "9"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")];
        let with = |more: &[(&'static str, &'static str)]| -> Vec<_> {
            batch.into_iter().chain(more.iter().copied()).collect()
        };
        assert_eq!((of(&batch), Rank::job(get(&batch))), (None, None));
        assert_eq!(of(&with(&[("SLURM_STEP_ID", "4294967291")])), None, "the batch step");
        assert_eq!(of(&with(&[("SLURM_STEPID", "4294967290")])), None, "an interactive shell");
        let task = with(&[("SLURM_STEP_ID", "3"), ("SLURM_STEP_NUM_TASKS", "2")]);
        assert_eq!(of(&task), Some((0, Some(2))), "a step may have fewer tasks than the job");
        assert_eq!(Rank::job(get(&task)).as_deref(), Some("9.3."));
        // The launcher of another library in a batch script names no number of ranks.
        assert_eq!(of(&with(&[("PMIX_RANK", "1")])), Some((1, None)));
    }

    #[test]
    fn a_job_has_one_name_on_all_hosts() {
        // Open MPI starts the ranks of other hosts by srun, those of its own host without.
        let here = [("PMIX_NAMESPACE", "a@1"), ("SLURM_JOB_ID", "9")];
        let there = [("PMIX_NAMESPACE", "a@1"), ("SLURM_JOB_ID", "9"), ("SLURM_STEP_ID", "0")];
        assert_eq!(Rank::job(get(&here)), Rank::job(get(&there)));
        assert_eq!(Rank::job(get(&[("PMI_RANK", "0"), ("PMI_SIZE", "4")])), None);
    }

    #[test]
    fn a_rank_that_cannot_be_is_none() {
        assert_eq!(of(&[("PMI_RANK", "-1"), ("PMI_SIZE", "4")]), None);
        assert_eq!(of(&[("PMI_RANK", ""), ("PMI_SIZE", "4")]), None);
        assert_eq!(of(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]), Some((4, None)));
    }
}
