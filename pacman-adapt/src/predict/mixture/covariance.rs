//! The covariance of the times that no mixture explains: similar configurations deviate alike.

use crate::predict::Configuration;

/// A symmetric matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::predict) struct Square {
    width: usize,
    cells: Vec<f64>,
}

impl Square {
    pub(in crate::predict) fn from_fn(
        width: usize,
        mut cell: impl FnMut(usize, usize) -> f64,
    ) -> Square {
        let cells = (0..width * width).map(|index| cell(index / width, index % width)).collect();
        Square { width, cells }
    }

    /// The number of rows, which is that of columns.
    pub(in crate::predict) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.cells.iter_mut().for_each(|cell| *cell *= factor);
    }

    pub(in crate::predict) fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.width + column]
    }

    /// The lower triangle of the Cholesky decomposition; `None` unless positive definite.
    pub(in crate::predict) fn root(&self) -> Option<Root> {
        let width = self.width;
        let mut cells = vec![0.0; width * width];
        for row in 0..width {
            for column in 0..=row {
                let (upper, lower) = (row * width, column * width);
                let known: f64 =
                    (0..column).map(|index| cells[upper + index] * cells[lower + index]).sum();
                let rest = self.at(row, column) - known;
                cells[upper + column] = if row == column {
                    (rest > 0.0).then(|| rest.sqrt())?
                } else {
                    rest / cells[lower + column]
                };
            }
        }
        Some(Root { width, cells })
    }
}

/// The lower triangle of a Cholesky decomposition.
pub(in crate::predict) struct Root {
    width: usize,
    cells: Vec<f64>,
}

impl Root {
    /// Solves for `values` in place, which makes correlated values independent with spread 1.
    pub(in crate::predict) fn whiten(&self, values: &mut [f64]) {
        for row in 0..self.width {
            let cells = &self.cells[row * self.width..];
            let known: f64 = (0..row).map(|index| cells[index] * values[index]).sum();
            values[row] = (values[row] - known) / cells[row];
        }
    }

    /// The natural logarithm of the square root of the matrix's determinant.
    pub(in crate::predict) fn log(&self) -> f64 {
        (0..self.width).map(|row| self.cells[row * (self.width + 1)].ln()).sum()
    }
}

/// The covariance of the residuals of mixtures, in ln of time over the reference's time.
///
/// The mean variance is 1. Half of it is that of a Wiener process, whose increments are independent.
/// The other half is that of an integrated Wiener process, whose slope changes continuously. Both
/// start at the reference and run over ln cores, ln contexts per core, and ln NUMA nodes where the
/// configurations have them.
///
/// Between two samples, the mean of a Wiener process is a straight line, and that of an integrated
/// one a cubic spline. See Wahba, "Spline Models for Observational Data", 1990, sections 1.2 and
/// 1.5.
pub(in crate::predict) fn unexplained(configurations: &[Configuration]) -> Square {
    let Some(reference) = configurations.last() else { return Square::from_fn(0, |_, _| 0.0) };
    let all = configurations.iter().filter_map(|on| on.nodes()).max().unwrap_or(1);
    let place = |on: &Configuration| {
        let (cores, contexts) = cores(*on);
        let nodes = on.nodes().unwrap_or(if cores > 1 { all } else { 1 });
        [cores, contexts, nodes].map(|number| f64::from(number).ln())
    };
    let from = place(reference);
    let away = |on: &Configuration| {
        let to = place(on);
        [from[0] - to[0], from[1] - to[1], from[2] - to[2]]
    };
    let places: Vec<[f64; 3]> = configurations.iter().map(away).collect();
    let both = |of: fn(f64, f64) -> f64| {
        let sum = |row: usize, column: usize| {
            let (a, b) = (places[row], places[column]);
            (0..3).map(|axis| of(a[axis], b[axis])).sum()
        };
        normal(Square::from_fn(places.len(), sum))
    };
    let (wiener, integrated) = (both(wiener), both(integrated_wiener));
    Square::from_fn(places.len(), |row, column| {
        (wiener.at(row, column) + integrated.at(row, column)) / 2.0
    })
}

/// The number of cores, and of contexts per core; a plain number of threads has one core each.
pub(super) fn cores(on: Configuration) -> (u32, u32) {
    (on.cores().unwrap_or(on.threads()), on.per_core().unwrap_or(1))
}

fn wiener(a: f64, b: f64) -> f64 {
    if a * b <= 0.0 { 0.0 } else { a.abs().min(b.abs()) }
}

fn integrated_wiener(a: f64, b: f64) -> f64 {
    if a * b <= 0.0 {
        return 0.0;
    }
    let (near, far) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
    near * near * (far / 2.0 - near / 6.0)
}

/// Scales the matrix to a mean of 1 on the diagonal.
fn normal(mut square: Square) -> Square {
    let trace: f64 = (0..square.width).map(|index| square.at(index, index)).sum();
    let mean = trace / square.width as f64;
    if mean > 0.0 {
        square.scale(1.0 / mean);
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_whitens() {
        let square = Square { width: 2, cells: vec![4.0, 2.0, 2.0, 5.0] };
        let root = square.root().unwrap();
        assert_eq!(root.cells, [2.0, 0.0, 1.0, 2.0]);
        assert!((root.log() - 16f64.sqrt().ln()).abs() < 1e-12);
        let mut values = [2.0, 5.0];
        root.whiten(&mut values);
        assert_eq!(values, [1.0, 2.0]);
        assert!(Square { width: 2, cells: vec![1.0, 2.0, 2.0, 1.0] }.root().is_none());
    }

    /// From the definition of the two processes, at 1, 2, 4 and 8 threads.
    #[test]
    fn covariances_are_those_of_wiener_processes() {
        let on: Vec<Configuration> =
            ["1", "2", "4", "8"].iter().map(|text| text.parse().unwrap()).collect();
        let square = unexplained(&on);
        let trace: f64 = (0..4).map(|index| square.at(index, index)).sum();
        assert!((trace - 4.0).abs() < 1e-12);
        // In octaves from 8: 3, 2, 1, 0. Variances go with t and with t^3 / 3.
        let (wiener, integrated) = (4.0 / 6.0, 4.0 / 12.0);
        for (row, t) in [(0, 3.0), (1, 2.0), (2, 1.0), (3, 0.0)] {
            let variance = (wiener * t + integrated * t * t * t / 3.0) / 2.0;
            assert!((square.at(row, row) - variance).abs() < 1e-12, "{row}");
        }
        // cov(1, 2 threads): t = 2 and 3.
        let covariance = (wiener * 2.0 + integrated * 4.0 * (1.5 - 2.0 / 6.0)) / 2.0;
        assert!((square.at(0, 1) - covariance).abs() < 1e-12);
        assert_eq!(square.at(0, 1), square.at(1, 0));
    }
}
