//! `pacman-pmu topo`: the machine as a picture for people or as JSON for programs.

mod json;
mod picture;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::PathBuf;

use pacman_core::Topology;

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
}

/// Writes the picture or the JSON to `out`; the exit status is 2 for a machine that cannot be read
/// as asked, and 1 if this one cannot be read.
pub(crate) fn topo(args: &TopoArgs, out: &mut dyn Write) -> io::Result<u8> {
    let machine = match read(args) {
        Ok(machine) => machine,
        Err(error) => {
            // With standard error closed too, the status has to say it alone.
            let _ = writeln!(io::stderr(), "pacman-pmu: {error}");
            let asked_for = args.synthetic.is_some() || args.sysfs.is_some();
            return Ok(if asked_for { 2 } else { 1 });
        }
    };
    if args.json {
        writeln!(out, "{:#}", json::facts(&machine))?;
    } else {
        let style = picture::Style {
            width: terminal::width(),
            unicode: terminal::is_utf8(),
            unfold: args.unfold,
        };
        out.write_all(picture::draw(&machine, &style).as_bytes())?;
    }
    out.flush()?;
    Ok(0)
}

fn read(args: &TopoArgs) -> pacman_core::Result<Topology> {
    match (&args.synthetic, &args.sysfs) {
        (Some(text), _) => Topology::synthetic(text),
        (None, Some(root)) => Topology::from_sysfs(root),
        (None, None) => Topology::detect(),
    }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu topo
  pacman-pmu topo --json | jq '.packages[].cores[].contexts[] | select(.allowed).cpu'
  pacman-pmu topo --synthetic \"8 p-cores, 2 threads, 8 e-cores\"
  pacman-pmu topo --sysfs copy-of-another-machine";
