//! `pacman-pmu topo`: the machine as a picture for people or as JSON for programs.

mod details;
mod json;
mod picture;
#[cfg(test)]
mod tests;
mod tiles;

use std::io::Write;
use std::path::PathBuf;

use pacman_core::Topology;

use crate::error::{CliError, CliResult};
use crate::terminal::Terminal;
use details::Details;
#[cfg(test)]
pub(crate) use json::Document as Facts;
use pacman_report::document;
#[cfg(test)]
pub(crate) use tiles::Document as Die;

/// Show the packages, cores and hardware contexts of this machine.
///
/// Every box is a core. The numbers in it are its contexts, by Linux's CPU number. This process may
/// not use contexts in parentheses. If the machine has more than 64 contexts, equal cores share a
/// box, which lists the first siblings, the second siblings and so on. Below there are the caches with
/// the contexts that share each, and the clock rates, as far as the kernel tells them.
#[derive(clap::Args, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopoArgs {
    /// Print the same facts as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Show a made-up machine, such as "2 packages, 4 cores, 2 threads"
    #[arg(long, value_name = "SPEC", conflicts_with = "sysfs")]
    pub(crate) synthetic: Option<String>,

    /// Show the machine whose /sys was copied to DIR/sys
    #[arg(long, value_name = "DIR")]
    pub(crate) sysfs: Option<PathBuf>,

    /// Draw every core, also on large machines
    #[arg(long, conflicts_with = "json")]
    pub(crate) unfold: bool,

    /// Show the places of CPUs and cache slices on the die, for models with known places
    #[arg(long, conflicts_with_all = ["synthetic", "unfold"])]
    pub(crate) tiles: bool,
}

/// Writes the picture or the JSON to `out`. The exit status is 1 if this machine cannot be read,
/// and 2 if a requested machine cannot.
pub(crate) fn topo(args: &TopoArgs, out: &mut dyn Write) -> CliResult {
    let asked_for = args.synthetic.is_some() || args.sysfs.is_some();
    let refused = |error: pacman_topology::Error| match asked_for {
        true => CliError::bad_input(error),
        false => CliError::refused(error),
    };
    let machine = read(args).map_err(refused)?;
    if args.tiles {
        return tiles::tiles(&machine, args.json, out);
    }
    let details = Details::of(&machine).map_err(refused)?;
    if args.json {
        document::write(out, &json::facts(&machine, &details))?;
    } else {
        let terminal = Terminal::stdout();
        let style = picture::Style {
            width: terminal.columns.unwrap_or(80).clamp(NARROWEST, WIDEST),
            unicode: terminal.unicode,
            unfold: args.unfold,
        };
        out.write_all(picture::draw(&machine, &details, &style).as_bytes())?;
    }
    out.flush()?;
    Ok(0)
}

fn read(args: &TopoArgs) -> pacman_topology::Result<Topology> {
    match (&args.synthetic, &args.sysfs) {
        (Some(text), _) => Topology::synthetic(text),
        (None, Some(root)) => Topology::from_sysfs(root),
        (None, None) => Topology::detect(),
    }
}

/// Below this even one core does not fit into its package.
const NARROWEST: usize = 40;

/// Beyond this the eye loses the row.
const WIDEST: usize = 160;

const EXAMPLES: &str = "\
Examples:
  pacman-pmu topo
  pacman-pmu topo --json | jq '.packages[].cores[].contexts[] | select(.allowed).cpu'
  pacman-pmu topo --synthetic \"8 p-cores, 2 threads, 8 e-cores\"
  pacman-pmu topo --sysfs copy-of-another-machine
  pacman-pmu topo --tiles --json

--tiles knows the tiles of Knights Landing's CPUs. As root it also shows the places with a slice of
the cache directory on the die of a Xeon Scalable (Skylake to Ice Lake). In JSON: processor; tiles,
a list of tile and cpus, and tiles_without_cores, or null and the reason in tiles_unknown; cha, with
its source and for each of dies the device, mask and places, or null and the reason in cha_unknown.

Exit status:
  0  done
  1  this machine cannot be read; --tiles: its places are unknown
  2  bad input: one line on standard error gives the reason
  4  the answer could not be written";
