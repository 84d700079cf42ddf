//! The kernel's account of the process's threads, taken at the exit.

use crate::arena;

/// Records how long the threads ran, and how long they could run and had no processor. Threads that
/// ended before are missing.
pub(crate) fn record() {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return };
    let (mut ran, mut delayed) = (0u64, 0u64);
    for thread in threads.flatten() {
        let Ok(text) = std::fs::read_to_string(thread.path().join("schedstat")) else { continue };
        let mut numbers = text.split_whitespace().map_while(|word| word.parse::<u64>().ok());
        ran = ran.saturating_add(numbers.next().unwrap_or(0));
        delayed = delayed.saturating_add(numbers.next().unwrap_or(0));
    }
    // Kernels without the account have zeros.
    if ran > 0 {
        arena::scheduled(ran, delayed);
    }
}
