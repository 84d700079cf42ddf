//! Model checks by loom that are sure to have checked something.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tries every interleaving of `body` that `limits` allows.
///
/// Panics below thirty: a model that loom cannot interleave would pass and check nothing.
pub fn interleave(limits: loom::model::Builder, body: impl Fn() + Sync + Send + 'static) {
    // Not loom's: it counts across executions.
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    limits.check(move || {
        // ATOMICS: a count, read when all are done.
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    });
    let tried = count.load(Ordering::Relaxed);
    println!("{tried} interleavings");
    assert!(tried > 30, "only {tried} interleavings");
}
