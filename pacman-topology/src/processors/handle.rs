//! A shared handle of a machine.

use std::ops::Deref;
use std::sync::Arc;

use super::interface::Processors;

/// A shared handle of a machine. A clone refers to the same machine.
#[derive(Clone, Debug)]
pub struct ProcessorsRef(Arc<dyn Processors>);

impl ProcessorsRef {
    /// A handle of `processors`.
    pub fn new(processors: impl Processors) -> ProcessorsRef {
        ProcessorsRef(Arc::new(processors))
    }
}

impl From<Arc<dyn Processors>> for ProcessorsRef {
    fn from(processors: Arc<dyn Processors>) -> ProcessorsRef {
        ProcessorsRef(processors)
    }
}

impl Deref for ProcessorsRef {
    type Target = dyn Processors;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl AsRef<ProcessorsRef> for ProcessorsRef {
    fn as_ref(&self) -> &ProcessorsRef {
        self
    }
}

impl PartialEq for ProcessorsRef {
    fn eq(&self, other: &ProcessorsRef) -> bool {
        self.number() == other.number()
    }
}

impl Eq for ProcessorsRef {}
