//! Busy processes, which go away with their value.

use std::io;
use std::process::{Child, Command, Stdio};

/// Processes that use a processor each.
pub(crate) struct Busy(Vec<Child>);

impl Busy {
    pub(crate) fn start(loops: usize) -> io::Result<Busy> {
        let mut all = Busy(Vec::new());
        for _ in 0..loops {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            all.0.push(command.spawn()?);
        }
        Ok(all)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
