//! The configurations of an execution.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// A number of threads and, where it matters, the number of contexts that they use on each core.
///
/// As text, `12` is 12 threads wherever they are placed, and `6x2` is 6 cores with 2 threads
/// each. Configurations are ordered by threads, then by contexts of a core.
///
/// ```
/// use pacman_adapt::predict::Configuration;
/// let siblings: Configuration = "6x2".parse()?;
/// assert_eq!((siblings.threads(), siblings.cores()), (12, Some(6)));
/// assert!("0".parse::<Configuration>().is_err());
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "models", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "models", serde(try_from = "String", into = "String"))]
pub struct Configuration {
    threads: u32,
    per_core: Option<u32>,
}

/// More threads than any machine has; a larger number is taken for a typing error.
const MOST: u32 = 1 << 16;

impl Configuration {
    /// A number of threads, on any cores.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for 0 and for more than 65,536.
    pub fn new(threads: u32) -> Result<Configuration> {
        Configuration { threads, per_core: None }.checked(&threads.to_string())
    }

    /// A number of cores with `per_core` threads on each.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if either number is 0 or their product is more than 65,536.
    pub fn on_cores(cores: u32, per_core: u32) -> Result<Configuration> {
        let threads = cores.saturating_mul(per_core);
        let text = format!("{cores}x{per_core}");
        Configuration { threads, per_core: Some(per_core) }.checked(&text)
    }

    fn checked(self, text: &str) -> Result<Configuration> {
        if (1..=MOST).contains(&self.threads) { Ok(self) } else { Err(refused(text)) }
    }

    /// The number of threads.
    pub fn threads(self) -> u32 {
        self.threads
    }

    /// The number of cores, where it is part of the configuration.
    pub fn cores(self) -> Option<u32> {
        self.per_core.map(|per_core| self.threads / per_core)
    }

    /// The number of threads on each core, where it is part of the configuration.
    pub fn per_core(self) -> Option<u32> {
        self.per_core
    }
}

#[cold]
fn refused(text: &str) -> Error {
    let message = format!(
        "{text:?} is not a configuration: write 12 (threads) or 6x2 (cores x threads on each), \
         with 1 to {MOST} threads"
    );
    Error::new(ErrorKind::InvalidInput, message)
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cores(), self.per_core) {
            (Some(cores), Some(per_core)) => f.pad(&format!("{cores}x{per_core}")),
            _ => f.pad(&self.threads.to_string()),
        }
    }
}

impl FromStr for Configuration {
    type Err = Error;

    fn from_str(text: &str) -> Result<Configuration> {
        let number = |part: &str| part.trim().parse::<u32>().map_err(|_| refused(text));
        match text.split_once('x') {
            Some((cores, per_core)) => Configuration::on_cores(number(cores)?, number(per_core)?),
            None => Configuration::new(number(text)?),
        }
    }
}

impl TryFrom<String> for Configuration {
    type Error = Error;

    fn try_from(text: String) -> Result<Configuration> {
        text.parse()
    }
}

impl From<Configuration> for String {
    fn from(configuration: Configuration) -> String {
        configuration.to_string()
    }
}
