//! Circles of files that import each other, and how to cut them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use petgraph::algo::{greedy_feedback_arc_set, tarjan_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::imports::Import;

/// Files that import each other, directly or through others of them.
pub(crate) struct Circle {
    pub(crate) files: BTreeSet<String>,
    /// Each import, and the ones to cut.
    pub(crate) report: String,
}

/// Imports of one file by another that the report shows.
const SHOWN: usize = 3;

/// The circles that `imports` make; `files` has the names of the files.
pub(crate) fn circles(files: &[String], imports: &[Import]) -> Vec<Circle> {
    let mut arcs: BTreeMap<(usize, usize), Vec<&Import>> = BTreeMap::new();
    for import in imports {
        arcs.entry((import.from, import.to)).or_default().push(import);
    }
    let graph = graph(files.len(), arcs.keys());
    let mut found = Vec::new();
    for members in tarjan_scc(&graph).into_iter().filter(|members| members.len() > 1) {
        let members: BTreeSet<usize> = members.into_iter().map(NodeIndex::index).collect();
        let inside: BTreeMap<_, _> = arcs
            .iter()
            .filter(|((from, to), _)| members.contains(from) && members.contains(to))
            .collect();
        let mut report = format!("circle of {} files:\n", members.len());
        for imports in inside.values() {
            for import in imports.iter().take(SHOWN) {
                let (from, to) = (&files[import.from], &files[import.to]);
                let _ = writeln!(
                    report,
                    "  {from}:{} names {}, defined in {to}",
                    import.line, import.path
                );
            }
            if imports.len() > SHOWN {
                let _ = writeln!(report, "  … and {} more of these", imports.len() - SHOWN);
            }
        }
        let within = self::graph(files.len(), inside.keys().copied());
        for arc in greedy_feedback_arc_set(&within) {
            let (from, to) = (arc.source().index(), arc.target().index());
            let count = inside.get(&(from, to)).map_or(0, |imports| imports.len());
            let _ = writeln!(report, "  cut {} -> {} ({count} paths)", files[from], files[to]);
        }
        let files = members.iter().map(|file| files[*file].clone()).collect();
        found.push(Circle { files, report });
    }
    found
}

fn graph<'a>(nodes: usize, arcs: impl Iterator<Item = &'a (usize, usize)>) -> DiGraph<(), ()> {
    let mut graph = DiGraph::new();
    for _ in 0..nodes {
        graph.add_node(());
    }
    for (from, to) in arcs {
        graph.add_edge(NodeIndex::new(*from), NodeIndex::new(*to), ());
    }
    graph
}
