//! A shared handle of a platform.

use std::ops::Deref;
use std::sync::Arc;

use pacman_topology::ProcessorsRef;

use super::interface::Platform;

/// A shared handle of a platform. A clone refers to the same machine.
#[derive(Clone, Debug)]
pub struct PlatformRef {
    platform: Arc<dyn Platform>,
    // The same machine: Rust 1.85 cannot turn one trait object into that of a supertrait.
    processors: ProcessorsRef,
}

impl PlatformRef {
    /// A handle of `platform`.
    pub fn new<P: Platform>(platform: P) -> PlatformRef {
        let platform = Arc::new(platform);
        let processors = ProcessorsRef::from(platform.clone() as Arc<_>);
        PlatformRef { platform, processors }
    }

    /// The processors of this machine, through which its topology is read and threads are bound.
    pub fn processors(&self) -> &ProcessorsRef {
        &self.processors
    }
}

impl Deref for PlatformRef {
    type Target = dyn Platform;

    fn deref(&self) -> &Self::Target {
        &*self.platform
    }
}

impl AsRef<ProcessorsRef> for PlatformRef {
    fn as_ref(&self) -> &ProcessorsRef {
        &self.processors
    }
}

impl From<&PlatformRef> for PlatformRef {
    fn from(platform: &PlatformRef) -> PlatformRef {
        platform.clone()
    }
}

impl PartialEq for PlatformRef {
    fn eq(&self, other: &PlatformRef) -> bool {
        self.number() == other.number()
    }
}

impl Eq for PlatformRef {}
