//! The file format of an installed table of events: rows of tab-separated fields after a first line, which identifies
//! a complete file of this model.
//!
//! A vendor's list takes a JSON parser and many checks. `pacman-pmu` runs both once, when it installs the list. So a library
//! that counts needs neither.

use std::fmt::Write;

use crate::admission::Admission;
use crate::encode::arch::Source;
use crate::scope::Scope;
use crate::{CounterSet, CpuModel, Family, ListSource, UserTable, db, event_names, shown};

/// The begin of the first line, with the version of the form.
const MAGIC: &str = "# pacman-pmu events 1";
/// The begin of a line that names a vendor's list. No event's name begins so.
const LIST: &str = "# ";
/// Events by which lists of two processors may differ, or a fiftieth of a long list. Of the 474 versions of Intel's lists
/// in perfmon's history none is refused for its own processor. Its newest ones are refused for all processors that share
/// fewer events, but for 14 of 2,295 pairs, which differ by at most 8 events.
const FEW: usize = 8;
/// Flags by their place in a row's last field.
const FLAGS: [&str; 6] = ["alone", "precise", "pair", "topdown", "core", "node"];

/// A table that was kept as text.
#[derive(Clone, Debug)]
pub struct InstalledTable {
    /// Its events.
    pub table: UserTable,
    /// The vendor's lists that they came from.
    pub sources: Vec<ListSource>,
    /// The time at which it was written.
    pub date: String,
}

impl InstalledTable {
    /// The table as text, for [`InstalledTable::parse`].
    pub fn to_text(&self, cpu: CpuModel) -> String {
        let cell = |text: &str| shown::line(text).replace('\t', " ");
        let mut body = format!("{}\n", cell(&self.date));
        for source in &self.sources {
            let optional = |text: &Option<String>| text.as_deref().map_or("-".to_owned(), cell);
            let (name, version, date) =
                (cell(&source.name), optional(&source.version), optional(&source.date));
            writeln!(body, "{LIST}{name}\t{version}\t{date}").expect("text grows");
        }
        for event in &self.table.events {
            row(&mut body, event);
        }
        format!("{MAGIC}\t{cpu}\t{:016x}\n{body}", checksum(cpu, &body))
    }

    /// The table that [`InstalledTable::to_text`] wrote for `cpu`.
    ///
    /// # Errors
    /// Why the text is not one: another form, another model, a damaged row, or an event that this version does not know
    /// `cpu` to have.
    pub fn parse(cpu: CpuModel, text: &str) -> Result<InstalledTable, String> {
        let (head, body) = text.split_once('\n').ok_or("it has no rows")?;
        let head: Vec<&str> = head.split('\t').collect();
        let &[magic, model, sum] = head.as_slice() else {
            return Err("it is not a table that events update wrote".into());
        };
        if magic != MAGIC {
            return Err("its first line is not of this version's form".into());
        }
        if model != cpu.name() {
            return Err(format!("it is a table of {}, not of {cpu}", shown::excerpt(model)));
        }
        if sum != format!("{:016x}", checksum(cpu, body)) {
            return Err("it is damaged: its rows do not have the sum of its first line".into());
        }
        let (date, rows) = body.split_once('\n').ok_or("it has no rows")?;
        let (mut sources, mut events) = (Vec::new(), Vec::new());
        let admission = Admission::of(cpu);
        for (index, line) in rows.lines().enumerate() {
            let at = |what: &str| format!("its line {} {what}", index + 3);
            if let Some(source) = line.strip_prefix(LIST) {
                sources.push(list_source(source).ok_or_else(|| at("names no list"))?);
                continue;
            }
            let event = source(line).ok_or_else(|| at("is no event"))?;
            if let Some(fault) = admission.fault(&event) {
                return Err(format!("{}: {fault}", shown::excerpt(&event.name)));
            }
            events.push(event);
        }
        let table = UserTable::new(events).map_err(|name| format!("{name} stands twice"))?;
        Ok(InstalledTable { table, sources, date: shown::line(date).into_owned() })
    }
}

impl UserTable {
    /// Both tables as one.
    ///
    /// # Errors
    /// The name that has a code in each of them, and not the same.
    pub fn joined(self, other: UserTable) -> Result<UserTable, String> {
        UserTable::new([self.events, other.events].concat())
    }

    /// The model to which the list belongs, if it is clearly not `cpu`: the shipped table of another one has more of its
    /// events, by their name and registers, than the table of `cpu` has.
    ///
    /// A newer list of a processor differs from its table by what was added or corrected. Relatives whose lists differ by
    /// eight events or fewer count as one.
    pub fn belongs_elsewhere(&self, cpu: CpuModel) -> Option<CpuModel> {
        Resemblance::of(self).owner(cpu)
    }
}

/// How many events of a list the shipped table of each model has.
struct Resemblance {
    events: usize,
    equal: Vec<(CpuModel, usize)>,
}

impl Resemblance {
    fn of(list: &UserTable) -> Resemblance {
        let named =
            list.events.iter().filter_map(|event| Some((event_names::number(&event.name)?, event)));
        let named: Vec<_> = named.collect();
        let equal = |model: CpuModel| {
            let is_equal = |(number, event): &&(u16, &Source)| {
                db::event_of(model, *number)
                    .is_some_and(|known| is_equal_to(event, &Source::of(&known)))
            };
            (model, named.iter().filter(is_equal).count())
        };
        Resemblance { events: list.events.len(), equal: CpuModel::all().map(equal).collect() }
    }

    /// The model to which the list belongs, if it is clearly not `cpu`.
    fn owner(&self, cpu: CpuModel) -> Option<CpuModel> {
        let (_, own) = self.equal.iter().find(|(model, _)| *model == cpu)?;
        let (best, most) = self.equal.iter().max_by_key(|(_, equal)| equal)?;
        let is_foreign = *most > own + FEW.max(self.events / 50);
        (is_foreign && cpu.family() != Family::Generic).then_some(*best)
    }
}

/// Whether an event of a list counts what the known one does. A list may name one of two equal registers, as the list of
/// Westmere-EX does.
fn is_equal_to(event: &Source, known: &Source) -> bool {
    let choices = |of: &Source| of.choices.into_iter().filter(|(_, msr)| *msr != 0).collect();
    let (listed, there): (Vec<_>, Vec<_>) = (choices(event), choices(known));
    // The first register's selector is in the lower half.
    let filters = if listed.is_empty() { !0 } else { !0xffff };
    listed.is_empty() == there.is_empty()
        && listed.iter().all(|choice| there.contains(choice))
        && (event.select ^ known.select) & filters == 0
        && event.value == known.value
}

fn list_source(line: &str) -> Option<ListSource> {
    let cells: Vec<&str> = line.split('\t').collect();
    let &[name, version, date] = cells.as_slice() else { return None };
    let cell = |text: &str| shown::line(text).into_owned();
    let optional = |text: &str| (text != "-").then(|| cell(text));
    Some(ListSource { name: cell(name), version: optional(version), date: optional(date) })
}

fn row(rows: &mut String, event: &Source) {
    let choices: Vec<String> =
        event.choices.iter().map(|(select, msr)| format!("{select:x}@{msr:x}")).collect();
    let is_set = [
        event.taken_alone,
        event.precise,
        event.counter_pair,
        event.topdown,
        event.counts == Scope::Core,
        event.counts == Scope::Node,
    ];
    let flags: Vec<&str> =
        FLAGS.iter().zip(is_set).filter(|(_, is_set)| *is_set).map(|(flag, _)| *flag).collect();
    let fixed = event.fixed.map_or("-".to_owned(), |fixed| fixed.to_string());
    writeln!(
        rows,
        "{}\t{:x}\t{}\t{:x}\t{:x}\t{:x}\t{fixed}\t{}",
        event.name.as_ref() as &str,
        event.select,
        choices.join("|"),
        event.value,
        event.counters.bits(),
        event.smt_off.bits(),
        flags.join(","),
    )
    .expect("text grows");
}

fn source(line: &str) -> Option<Source> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[name, select, choices, value, counters, smt_off, fixed, flags] = fields.as_slice() else {
        return None;
    };
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let counter_set = |text: &str| number(text).map(CounterSet::from_bits);
    let mut pairs = [(0, 0); 4];
    let mut choices = choices.split('|');
    for pair in &mut pairs {
        let (select, msr) = choices.next()?.split_once('@')?;
        *pair = (u16::from_str_radix(select, 16).ok()?, u16::from_str_radix(msr, 16).ok()?);
    }
    let flags: Vec<&str> = flags.split(',').filter(|flag| !flag.is_empty()).collect();
    if choices.next().is_some() || !flags.iter().all(|flag| FLAGS.contains(flag)) {
        return None;
    }
    let has = |flag: &str| flags.contains(&flag);
    Some(Source {
        name: name.to_owned().into(),
        select: number(select)?,
        choices: pairs,
        value: number(value)?,
        counters: counter_set(counters)?,
        smt_off: counter_set(smt_off)?,
        fixed: match fixed {
            "-" => None,
            fixed => Some(fixed.parse().ok()?),
        },
        taken_alone: has("alone"),
        precise: has("precise"),
        counter_pair: has("pair"),
        topdown: has("topdown"),
        counts: match (has("core"), has("node")) {
            (_, true) => Scope::Node,
            (true, false) => Scope::Core,
            _ => Scope::Thread,
        },
        errata: "",
    })
}

/// FNV-1a of the model's name and all lines behind the first: against damage, not against forgery.
fn checksum(cpu: CpuModel, rows: &str) -> u64 {
    cpu.name().bytes().chain(rows.bytes()).fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_of(model: CpuModel) -> UserTable {
        let events = db::events(model).map(|event| Source::of(&event)).collect();
        UserTable::new(events).unwrap()
    }

    #[test]
    fn a_list_is_of_its_own_processor_and_of_no_other_with_other_events() {
        let lists: Vec<_> = CpuModel::all()
            .filter(|model| model.family() == Family::Intel)
            .map(|model| (model, Resemblance::of(&table_of(model))))
            .collect();
        let (mut refused, mut taken) = (0, 0);
        for (own, list) in &lists {
            assert_eq!(list.owner(*own), None, "{own}");
            for (other, _) in lists.iter().filter(|(other, _)| other != own) {
                match list.owner(*other) {
                    Some(owner) => {
                        // Twins have one list under two names.
                        assert_eq!(list.owner(owner), None, "{own} as {other}");
                        refused += 1;
                    }
                    None => taken += 1,
                }
            }
        }
        // 35 pairs of twins and close relatives pass, of 2,352.
        assert!(refused > 60 * taken, "{refused} refused, {taken} taken");
    }

    #[test]
    fn neither_a_few_events_nor_a_processor_without_a_table_decides() {
        let named = |name| CpuModel::named(name).unwrap();
        let icl = table_of(named("icl"));
        let few = UserTable { events: icl.events[..FEW].to_vec(), ..icl.clone() };
        assert_eq!(few.belongs_elsewhere(named("hsw")), None);
        assert!(icl.belongs_elsewhere(named("hsw")).is_some());
        assert_eq!(icl.belongs_elsewhere(CpuModel::generic()), None);
    }
}
