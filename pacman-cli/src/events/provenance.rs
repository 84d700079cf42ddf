//! The table that an event came from: built in, installed by the user, or a file that an option names.

use std::fmt;
use std::path::Path;

use pacman_events::encode::Kind;
use pacman_events::shown::shown_path;
use pacman_events::{Encoding, ListSource};
use serde::Serialize;

use super::tables::Loaded;

/// A table of events, and the lists that it was made from.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct EventTable {
    /// `built-in`, `installed` by `events update`, or a `file` of the option `--events`.
    #[cfg_attr(test, schemars(extend("enum" = ["built-in", "installed", "file"])))]
    origin: &'static str,
    /// The file on this machine; null for the built-in table.
    file: Option<String>,
    /// Time of the installation in UTC; null for tables of another origin.
    installed: Option<String>,
    /// The lists of its events.
    lists: Vec<VendorList>,
}

/// A list of events as its publisher names it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct VendorList {
    /// Name of the list or of its file.
    name: String,
    /// Version, if the list has one.
    version: Option<String>,
    /// Date of publication as the list writes it, if it has one.
    date: Option<String>,
}

impl From<&ListSource> for VendorList {
    fn from(source: &ListSource) -> VendorList {
        let ListSource { name, version, date } = source.clone();
        VendorList { name, version, date }
    }
}

impl EventTable {
    /// The table that an encoding came from; `None` for a code and for an event of the kernel or of a PMU in sysfs.
    pub(super) fn of(event: &Encoding, loaded: &Loaded) -> Option<EventTable> {
        if event.kind == Kind::Perf {
            None
        } else if event.name.is_shipped() {
            Self::built_in(loaded)
        } else {
            Self::brought(loaded).filter(|_| loaded.replaces(&event.name.to_string()))
        }
    }

    /// The table before the built-in one.
    pub(super) fn brought(loaded: &Loaded) -> Option<EventTable> {
        let path = |file: &Path| Some(shown_path(file).to_string());
        if let Some(found) = loaded.installed() {
            return Some(EventTable {
                origin: "installed",
                file: path(&found.file),
                installed: Some(found.content.date.clone()),
                lists: found.content.sources.iter().map(VendorList::from).collect(),
            });
        }
        let (file, list) = loaded.file()?;
        Some(EventTable {
            origin: "file",
            file: path(file),
            installed: None,
            lists: vec![VendorList::from(&list)],
        })
    }

    /// The built-in table.
    pub(super) fn built_in(loaded: &Loaded) -> Option<EventTable> {
        let list = ListSource::shipped(loaded.cpu())?;
        let lists = vec![VendorList::from(&list)];
        Some(EventTable { origin: "built-in", file: None, installed: None, lists })
    }
}

impl fmt::Display for EventTable {
    /// `installed: a.json, version 2 of 1/1/2027, on 2027-01-02T10:00:00Z in /home/…/skl.tsv`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.origin)?;
        for (index, VendorList { name, version, date }) in self.lists.iter().enumerate() {
            let source =
                ListSource { name: name.clone(), version: version.clone(), date: date.clone() };
            write!(f, "{} {source}", if index == 0 { "" } else { ";" })?;
        }
        if let (Some(file), Some(date)) = (&self.file, &self.installed) {
            write!(f, "; installed {date} in {file}")?;
        }
        Ok(())
    }
}
