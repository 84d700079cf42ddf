//! Reads lines of a table and an event, tab-separated, and writes each with its registers.
//!
//! A line of the output is table, event, state, and two words. The state is `ok`, `sum` for an
//! expression, or the kind of the refusal. The words are perf's `config` and `config1`; on NetBurst
//! they are the first thread's ESCR in user mode and the CCCR.

use std::io::{self, BufRead, BufWriter, Write};

use pacman_events::{CpuModel, Encoding, resolve};

fn words(encoding: &Encoding) -> (u64, u64) {
    match (&encoding.netburst, encoding.perf) {
        (Some(setup), _) => (u64::from(setup.escr(0, true, false)), u64::from(setup.cccr())),
        (None, Some(perf)) => (perf.config, perf.config1),
        (None, None) => (encoding.evtsel, encoding.extra.map_or(0, |register| register.value)),
    }
}

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Some((table, event)) = line.split_once('\t') else {
            let why = format!("{line:?} is not a table and an event with a tab between them");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        };
        let Some(cpu) = CpuModel::named(table) else {
            writeln!(out, "{line}\tno table\t0x0\t0x0")?;
            continue;
        };
        match resolve(cpu, event) {
            Ok(resolved) => match resolved.encoding() {
                Some(encoding) => {
                    let (first, second) = words(encoding);
                    writeln!(out, "{line}\tok\t{first:#x}\t{second:#x}")?;
                }
                None => writeln!(out, "{line}\tsum\t0x0\t0x0")?,
            },
            Err(why) => writeln!(out, "{line}\t{:?}\t0x0\t0x0", why.kind())?,
        }
    }
    out.flush()
}
