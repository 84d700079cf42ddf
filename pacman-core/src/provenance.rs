//! Where, when and by which version figures were made.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::time::SystemTime;

use pacman_topology::Topology;

/// Where, when and by which version the figures of a report were made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provenance {
    /// The version of this library.
    pub version: String,
    /// The name of the host.
    pub host: String,
    /// The name of the processor; `None` if the topology is not known.
    pub processor: Option<String>,
    /// The operating system, its release and its architecture, such as `Linux 6.1.0 x86_64`.
    pub system: String,
    /// The time at which counting began.
    pub began: SystemTime,
}

impl Provenance {
    /// This library on this host, for figures since `began`.
    ///
    /// ```
    /// use pacman_core::Provenance;
    /// let provenance = Provenance::here(None, std::time::SystemTime::now());
    /// assert!(provenance.system.starts_with("Linux "));
    /// assert!(provenance.date().ends_with("Z"));
    /// ```
    pub fn here(topology: Option<&Topology>, began: SystemTime) -> Provenance {
        let [system, host, release, machine] = names();
        Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host,
            processor: topology.map(|topology| topology.machine_name().to_owned()),
            system: format!("{system} {release} {machine}"),
            began,
        }
    }

    /// `began` in UTC by RFC 3339, to the second: `2026-11-25T02:41:40Z`.
    pub fn date(&self) -> String {
        let since_1970 = self.began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = libc::time_t::try_from(since_1970.as_secs()).unwrap_or(libc::time_t::MAX);
        let mut parts = MaybeUninit::<libc::tm>::zeroed();
        // SAFETY: both point to values of their types. Zeros are a valid `tm`, so it is valid also if the
        // call refuses a year beyond its range.
        let parts = unsafe {
            libc::gmtime_r(&raw const seconds, parts.as_mut_ptr());
            parts.assume_init()
        };
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            i64::from(parts.tm_year) + 1900,
            parts.tm_mon + 1,
            parts.tm_mday,
            parts.tm_hour,
            parts.tm_min,
            parts.tm_sec
        )
    }
}

/// The system, the host, the release and the architecture, as `uname` prints them.
fn names() -> [String; 4] {
    let mut names = MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: the call fills the value or leaves its zeros, which are empty names.
    let names = unsafe {
        libc::uname(names.as_mut_ptr());
        names.assume_init()
    };
    [&names.sysname, &names.nodename, &names.release, &names.machine].map(|name| {
        // SAFETY: the kernel ends each name with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        name.to_string_lossy().into_owned()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds| {
            let began = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            Provenance::here(None, began).date()
        };
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        // The leap day of a century's year that has one.
        assert_eq!(at(951_868_799), "2000-02-29T23:59:59Z");
        assert_eq!(at(1_795_574_500), "2026-11-25T02:41:40Z");
    }
}
