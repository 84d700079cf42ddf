//! The configurations of an execution.

use std::fmt;
use std::str::FromStr;

use pacman_events::{Error, ErrorKind, Result};

/// A number of threads and, where they matter, the contexts that they use on each core and the NUMA
/// nodes that these cores are on.
///
/// As text, `12` is 12 threads on any contexts, and `6x2` is 6 cores with 2 threads each. `6x2/3` is
/// the same with 2 cores on each of 3 nodes. Configurations are ordered by threads, then by
/// contexts of a core, then by nodes.
///
/// ```
/// use pacman_adapt::predict::Configuration;
/// let siblings: Configuration = "6x2".parse()?;
/// assert_eq!((siblings.threads(), siblings.cores(), siblings.nodes()), (12, Some(6), None));
/// assert_eq!("6x2/3".parse::<Configuration>()?, siblings.on_nodes(3)?);
/// assert!("0".parse::<Configuration>().is_err());
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "models", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "models", serde(try_from = "String", into = "String"))]
pub struct Configuration {
    threads: u32,
    per_core: Option<u32>,
    nodes: Option<u32>,
}

/// More threads than any machine has; a larger number is taken for a typing error.
const MOST: u32 = 1 << 16;

impl Configuration {
    /// A number of threads, on any cores.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for 0 and for more than 65,536.
    pub fn new(threads: u32) -> Result<Configuration> {
        Configuration { threads, per_core: None, nodes: None }.checked(&threads.to_string())
    }

    /// A number of cores with `per_core` threads on each.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if either number is 0 or their product is more than 65,536.
    pub fn on_cores(cores: u32, per_core: u32) -> Result<Configuration> {
        let threads = cores.saturating_mul(per_core);
        let text = format!("{cores}x{per_core}");
        Configuration { threads, per_core: Some(per_core), nodes: None }.checked(&text)
    }

    /// The same cores, as many on each of `nodes` NUMA nodes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the configuration has no cores, or `nodes` does not divide
    /// their number.
    pub fn on_nodes(self, nodes: u32) -> Result<Configuration> {
        match self.cores() {
            Some(cores) if nodes > 0 && cores % nodes == 0 => {
                Ok(Configuration { nodes: Some(nodes), ..self })
            }
            _ => Err(refused(&format!("{}/{nodes}", self.wherever()))),
        }
    }

    /// The same threads and cores, on any nodes.
    pub fn wherever(self) -> Configuration {
        Configuration { nodes: None, ..self }
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

    /// The number of NUMA nodes that its cores are on, where it is part of the configuration.
    pub fn nodes(self) -> Option<u32> {
        self.nodes
    }
}

#[cold]
fn refused(text: &str) -> Error {
    let message = format!(
        "{text:?} is not a configuration: write 12 (threads), 6x2 (cores x threads on each) or 6x2/3 \
         (as many of the cores on each of 3 NUMA nodes), with 1 to {MOST} threads"
    );
    Error::new(ErrorKind::InvalidInput, message)
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.cores(), self.per_core, self.nodes) {
            (Some(cores), Some(per_core), None) => f.pad(&format!("{cores}x{per_core}")),
            (Some(cores), Some(per_core), Some(nodes)) => {
                f.pad(&format!("{cores}x{per_core}/{nodes}"))
            }
            _ => f.pad(&self.threads.to_string()),
        }
    }
}

impl FromStr for Configuration {
    type Err = Error;

    fn from_str(text: &str) -> Result<Configuration> {
        let number = |part: &str| part.trim().parse::<u32>().map_err(|_| refused(text));
        let Some((cores, rest)) = text.split_once('x') else {
            return Configuration::new(number(text)?);
        };
        let (per_core, nodes) = match rest.split_once('/') {
            Some((per_core, nodes)) => (per_core, Some(number(nodes)?)),
            None => (rest, None),
        };
        let on = Configuration::on_cores(number(cores)?, number(per_core)?)?;
        nodes.map_or(Ok(on), |nodes| on.on_nodes(nodes))
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
