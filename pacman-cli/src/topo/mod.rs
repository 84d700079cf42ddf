//! `pacman-pmu topo`: the machine as a picture for people or as JSON for programs.

mod json;
mod picture;
#[cfg(test)]
mod tests;
mod tiles;

use std::io::Write;
use std::path::PathBuf;

use pacman_core::Topology;

use crate::document;
use crate::error::{CliError, CliResult};
use crate::terminal::Terminal;

/// Show the packages, cores and hardware contexts of this machine.
///
/// Every box is a core; the numbers in it are its contexts, as Linux numbers CPUs. A number in
/// parentheses is a context that this process may not use. Machines with more than 64 contexts
/// are folded: alike cores share a box that lists first siblings, second siblings and so on.
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

    /// Draw every core, however many there are
    #[arg(long, conflicts_with = "json")]
    pub(crate) unfold: bool,

    /// Show the places of CPUs and cache slices on the die, where a model's are known
    #[arg(long, conflicts_with_all = ["synthetic", "unfold"])]
    pub(crate) tiles: bool,
}

/// Writes the picture or the JSON to `out`; the exit status is 2 for a machine that cannot be read
/// as asked, and 1 if this one cannot be read.
pub(crate) fn topo(args: &TopoArgs, out: &mut dyn Write) -> CliResult {
    let asked_for = args.synthetic.is_some() || args.sysfs.is_some();
    let machine = read(args).map_err(|error| match asked_for {
        true => CliError::bad_input(error),
        false => CliError::refused(error),
    })?;
    if args.tiles {
        return tiles::tiles(&machine, args.json, out);
    }
    if args.json {
        document::write(out, &json::facts(&machine))?;
    } else {
        let terminal = Terminal::stdout();
        let style = picture::Style {
            width: terminal.columns.unwrap_or(80).clamp(NARROWEST, WIDEST),
            unicode: terminal.unicode,
            unfold: args.unfold,
        };
        out.write_all(picture::draw(&machine, &style).as_bytes())?;
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

--tiles knows the tiles of Knights Landing's CPUs, and which places of a Xeon Scalable's die
(Skylake to Ice Lake, as root) have a slice of the cache directory. In JSON: processor; tiles, a
list of tile and cpus, and tiles_without_cores, or null and the reason in tiles_unknown; cha, with
its source and for each of dies the device, mask and places, or null and the reason in cha_unknown.

Exit status:
  0  done
  1  this machine cannot be read; --tiles: nothing is known of its places
  2  bad input: one line on standard error says what and why
  4  the answer could not be written";
