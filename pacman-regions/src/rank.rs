//! The rank of a process, from the environment that its launcher made.

use std::ffi::OsString;

use crate::Rank;

/// The variables of launchers: rank, and number of ranks. The launcher of the MPI library comes before
/// the batch system, whose variables describe the step that ran the launcher.
const VARIABLES: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "SLURM_NTASKS"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
];

impl Rank {
    /// Reads the rank from environment variables; `None` without a valid rank.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Option<Rank> {
        let number = |name: &str| variable(name)?.to_str()?.parse::<u32>().ok();
        VARIABLES.iter().find_map(|(rank, ranks)| {
            let rank = number(rank)?;
            Some(Rank { rank, ranks: number(ranks).filter(|ranks| rank < *ranks) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<(u32, Option<u32>)> {
        let get = |name: &str| {
            let known = variables.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| OsString::from(value))
        };
        Rank::read(get).map(|rank| (rank.rank, rank.ranks))
    }

    #[test]
    fn each_launcher_has_its_variables() {
        assert_eq!(of(&[("PMI_RANK", "3"), ("PMI_SIZE", "4")]), Some((3, Some(4))));
        assert_eq!(of(&[("PMIX_RANK", "0")]), Some((0, None)));
        let slurm = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")];
        assert_eq!(of(&slurm), Some((0, Some(2))));
        let inner = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "8")];
        assert_eq!(of(&[slurm, inner].concat()), Some((1, Some(8))), "the inner launcher");
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_rank_that_cannot_be_is_none() {
        assert_eq!(of(&[("PMI_RANK", "-1"), ("PMI_SIZE", "4")]), None);
        assert_eq!(of(&[("PMI_RANK", ""), ("PMI_SIZE", "4")]), None);
        assert_eq!(of(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]), Some((4, None)));
    }
}
