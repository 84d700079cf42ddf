//! A phase's block: a row for each thread, grouped by core, then the sum.

use super::cell::{Cell, Marks};
use super::figures::Figures;
use super::grid::{Column, Grid, Row, Tone};
use super::rate::Rate;
use super::{quantity, text};
use crate::export::TableStyle;
use crate::report::{DOUBTED, EventSetRotation, PhaseReport, Report, ThreadReport};
use pacman_topology::CoreType;

/// A thread and its cost of one phase.
pub(super) type Member<'a> = (&'a ThreadReport, &'a PhaseReport);

/// The layout that all blocks of a table share.
pub(super) struct Layout<'a> {
    report: &'a Report,
    style: &'a TableStyle,
    rates: Vec<Rate>,
    /// There are several packages, so that a column names the package.
    packages: bool,
}

/// A row before its conversion to text.
struct Line {
    keys: Vec<String>,
    cells: Vec<Cell>,
    tone: Tone,
    ruled: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn new(report: &'a Report, style: &'a TableStyle) -> Layout<'a> {
        let mut packages: Vec<u32> =
            report.threads.iter().filter_map(|thread| Some(thread.place?.package)).collect();
        packages.sort_unstable();
        packages.dedup();
        let unmoved: Vec<usize> =
            report.zero_count_warnings().into_iter().map(|(event, _)| event).collect();
        Layout {
            report,
            style,
            rates: (0..report.events.len())
                .map(|e| Rate::of(&report.events, &unmoved, e))
                .collect(),
            packages: packages.len() > 1,
        }
    }

    /// The grid of one phase; `members` come in any order.
    pub(super) fn grid(&self, mut members: Vec<Member<'_>>, marks: &mut Marks) -> Grid {
        members.sort_by_key(|(thread, _)| seat(thread));
        let each: Vec<Figures> =
            members.iter().map(|(thread, row)| self.figures(thread, row)).collect();
        let total = self.sum(&each);
        let counted = each.iter().any(|figures| figures.counted().is_some());
        let folded = members.len() > self.style.fold;
        let mut lines = if folded {
            self.folded(&each, counted)
        } else {
            self.seated(&members, &each, counted, marks)
        };
        if members.len() > 1 {
            lines.push(Line {
                keys: self.label("total".to_string()),
                cells: self.cells(&total, counted),
                tone: Tone::Heading,
                ruled: true,
            });
        }
        // Folded rows have no place: all their keys but the last are empty.
        let placeless = if folded { self.keys() - 1 } else { 0 };
        let rows = lines
            .into_iter()
            .map(|line| {
                let cells = line.cells.iter().map(|cell| cell.text(self.style, marks));
                let cells = line.keys.into_iter().chain(cells).skip(placeless).collect();
                Row { cells, tone: line.tone, ruled: line.ruled }
            })
            .collect();
        let columns = self.columns(counted).split_off(placeless);
        Grid { columns, keys: self.keys() - placeless, rows, ruled: true, is_list: false }
    }

    fn figures(&self, thread: &ThreadReport, row: &PhaseReport) -> Figures {
        Figures::of(self.report, thread, row)
    }

    /// The sum of several threads' figures.
    fn sum(&self, each: &[Figures]) -> Figures {
        let mut sum = Figures::none(self.report);
        each.iter().for_each(|figures| sum.add(figures));
        if self.report.rotation == Some(EventSetRotation::Staggered) {
            sum.of_a_team()
        } else {
            sum
        }
    }

    /// A row for each thread, siblings one below the other, and a sum for each
    /// core that several threads were bound to.
    fn seated(
        &self,
        members: &[Member<'_>],
        each: &[Figures],
        counted: bool,
        marks: &mut Marks,
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut first = 0;
        for group in members.chunk_by(|(one, _), (two, _)| same_core(one, two)) {
            for (position, (thread, _)) in group.iter().enumerate() {
                lines.push(Line {
                    keys: self.thread_keys(thread, position == 0, marks),
                    cells: self.cells(&each[first + position], counted),
                    tone: Tone::Plain,
                    ruled: false,
                });
            }
            let all_bound = group.iter().all(|(thread, _)| is_bound(thread));
            // A core's sum would repeat the total if there is only one core.
            if group.len() > 1 && group.len() < members.len() && all_bound {
                let sum = self.sum(&each[first..first + group.len()]);
                let core = group[0].0.place.map_or(0, |place| place.core);
                lines.push(Line {
                    keys: self.label(format!("core {core}")),
                    cells: self.cells(&sum, counted),
                    tone: Tone::Heading,
                    ruled: false,
                });
            }
            first += group.len();
        }
        lines
    }

    /// Three rows for many threads: the minimum, median and maximum of each column.
    fn folded(&self, each: &[Figures], counted: bool) -> Vec<Line> {
        let mut columns: Vec<Vec<Cell>> = Vec::new();
        for figures in each {
            for (number, cell) in self.cells(figures, counted).into_iter().enumerate() {
                if columns.len() == number {
                    columns.push(Vec::new());
                }
                columns[number].push(cell);
            }
        }
        for column in &mut columns {
            // If no thread has a figure, the reason stays.
            if column.iter().any(Cell::is_figure) {
                column.retain(Cell::is_figure);
                column.sort_by(Cell::compare);
            }
        }
        // The lower of the two middle ones: a figure that some thread has.
        let row = |name: &str, at: fn(usize) -> usize| Line {
            keys: self.label(format!("{name} of {}", quantity::grouped(each.len() as u128))),
            cells: columns.iter().map(|column| column[at(column.len())].clone()).collect(),
            tone: Tone::Plain,
            ruled: false,
        };
        vec![
            row("min", |_| 0),
            row("median", |length| (length - 1) / 2),
            row("max", |length| length - 1),
        ]
    }

    fn keys(&self) -> usize {
        if self.packages { 4 } else { 3 }
    }

    fn columns(&self, counted: bool) -> Vec<Column> {
        let figure = |name: &str, unit: &str, joined| Column {
            head: [name.to_string(), unit.to_string()],
            left: false,
            joined,
            label: false,
        };
        let mut columns = Vec::new();
        if self.packages {
            columns.push(figure("pkg", "", false));
        }
        columns.push(figure("core", "", false));
        columns.push(figure("cpu", "", false));
        columns.push(Column { left: true, ..figure("thread", "", false) });
        columns.push(figure("runs", "", false));
        columns.push(figure("time", "sum", true));
        columns.push(figure("share", "of thread", true));
        if counted {
            columns.push(figure("counted", "of time", true));
        }
        for (event, rate) in self.report.events.iter().zip(&self.rates) {
            // A clock's figures carry their unit, unless all digits are shown.
            let unit = if event.unit == "ns" && !self.style.exact { "" } else { event.unit };
            columns.push(figure(&text::clean(&event.title()), unit, false));
            let [name, unit] = rate.head();
            let of_doubt = matches!(rate, Rate::Of(_, other) if [event, &self.report.events[*other]].iter().any(|event| event.doubt.is_some()));
            let name = format!("{name}{}", if of_doubt { DOUBTED } else { "" });
            columns.push(figure(&name, unit, true));
        }
        columns
    }

    fn cells(&self, figures: &Figures, counted: bool) -> Vec<Cell> {
        let mut cells = vec![Cell::Count {
            value: figures.executions,
            unit_ns: false,
            scaled: false,
            missing: false,
        }];
        if figures.executions == 0 {
            cells.extend([Cell::Absent, Cell::Absent]);
        } else {
            cells.push(Cell::Time(figures.time));
            cells.push(share(figures.time, figures.attached));
        }
        if counted {
            let counted = figures.counted();
            cells.push(counted.map_or(Cell::Empty, |(running, enabled)| share(running, enabled)));
        }
        let rates = || self.rates.iter().enumerate();
        // A clock shows that reading the counters is a large part of all counts here.
        let is_too_short = rates()
            .any(|(event, rate)| *rate == Rate::Share && rate.cell(figures, event) == Cell::Excess);
        for (event, rate) in rates() {
            let figure = &figures.counts[event];
            cells.push(match figure.value {
                Some(value) => Cell::Count {
                    value,
                    unit_ns: self.report.events[event].unit == "ns",
                    scaled: figure.scaled,
                    missing: figure.missing,
                },
                None => Cell::Absent,
            });
            cells.push(match rate.cell(figures, event) {
                Cell::Ratio { .. } if is_too_short && matches!(rate, Rate::OfTime(_)) => {
                    Cell::Excess
                }
                cell => cell,
            });
        }
        cells
    }

    fn thread_keys(&self, thread: &ThreadReport, first: bool, marks: &mut Marks) -> Vec<String> {
        let mut keys = Vec::new();
        match thread.place {
            Some(place) => {
                // Siblings leave out the cells that they share with their core's first thread.
                let once = |text: String| if first { text } else { String::new() };
                if self.packages {
                    keys.push(once(place.package.to_string()));
                }
                keys.push(once(format!("{}{}", place.core, kind(place.core_type))));
                marks.unbound |= !place.bound;
                keys.push(format!("{}{}", place.cpu, if place.bound { "" } else { UNBOUND }));
            }
            None => keys.resize(self.keys() - 1, "?".to_string()),
        }
        let name = thread.name.as_deref().map(|name| format!(" {}", text::clean(name)));
        let label = match thread.threads {
            1 => format!("{}{}", thread.number, name.unwrap_or_default()),
            // The row has no number of its own.
            _ => name.unwrap_or_default().trim_start().to_string(),
        };
        keys.push(text::clip(&label, NAME, self.style.unicode));
        keys
    }

    /// The keys of a row that belongs to several threads.
    fn label(&self, label: String) -> Vec<String> {
        let mut keys = vec![String::new(); self.keys() - 1];
        keys.push(label);
        keys
    }
}

fn share(part: u128, whole: u128) -> Cell {
    if whole == 0 { Cell::Undefined } else { Cell::Share { part, whole, scaled: false } }
}

/// The order of threads: package, core, sibling; those of unknown place last.
fn seat(thread: &ThreadReport) -> impl Ord + use<> {
    let place = thread.place.map(|place| (place.package, place.core, place.sibling, place.cpu));
    (thread.threads > 1, place.is_none(), place, thread.number)
}

fn same_core(one: &ThreadReport, two: &ThreadReport) -> bool {
    match (one.place, two.place) {
        (Some(one), Some(two)) => (one.package, one.core) == (two.package, two.core),
        _ => false,
    }
}

fn is_bound(thread: &ThreadReport) -> bool {
    thread.place.is_some_and(|place| place.bound)
}

/// The mark of a core's kind on hybrid processors.
fn kind(core_type: CoreType) -> &'static str {
    match core_type {
        CoreType::Performance => " P",
        CoreType::Efficiency => " E",
        CoreType::LowPower => " LP",
        _ => "",
    }
}

/// Columns of a thread's number and name.
const NAME: usize = 18;
/// The mark of a cpu that the session did not bind the thread to.
pub(super) const UNBOUND: &str = "*";
