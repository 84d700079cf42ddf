//! A shared handle of a platform.

use std::ops::Deref;
use std::sync::Arc;

use super::interface::Platform;

/// A shared handle of a platform; a clone is the same machine.
#[derive(Clone, Debug)]
pub struct PlatformRef(Arc<dyn Platform>);

impl PlatformRef {
    /// A handle of `platform`.
    pub fn new(platform: impl Platform) -> PlatformRef {
        PlatformRef(Arc::new(platform))
    }
}

impl Deref for PlatformRef {
    type Target = dyn Platform;

    fn deref(&self) -> &Self::Target {
        &*self.0
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
