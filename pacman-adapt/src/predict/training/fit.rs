//! Least squares with a penalty, for many responses on the same features.

use nalgebra::DMatrix;

/// Features with mean 0 and deviation 1, a row for each program.
pub(super) struct Standardised {
    pub(super) values: DMatrix<f64>,
    /// Mean and deviation of each column before standardisation. A constant column has a deviation
    /// of 1.
    pub(super) moments: Vec<(f64, f64)>,
}

impl Standardised {
    pub(super) fn new(mut values: DMatrix<f64>) -> Standardised {
        let rows = values.nrows() as f64;
        let moments = values
            .column_iter_mut()
            .map(|mut column| {
                let mean = column.sum() / rows;
                column.add_scalar_mut(-mean);
                let deviation = (column.norm_squared() / rows).sqrt();
                // The rounding error of a constant must not count as variation.
                let constant = deviation <= 1e-12 * mean.abs();
                let deviation = if constant || deviation == 0.0 { 1.0 } else { deviation };
                if constant {
                    column.fill(0.0);
                }
                column /= deviation;
                (mean, deviation)
            })
            .collect();
        Standardised { values, moments }
    }
}

/// The coefficients, and the residual of each row if it is left out.
pub(super) struct Fit {
    /// The inverse of the penalised normal matrix.
    pub(super) inverse: DMatrix<f64>,
    /// A row for each feature, a column for each response.
    pub(super) slopes: DMatrix<f64>,
    /// The intercept of each response. It is not penalised.
    pub(super) intercepts: Vec<f64>,
    /// Measured less predicted by the fit without that row. The standardisation stays.
    pub(super) left_out: DMatrix<f64>,
    /// The leverage of each row, with the intercept's part; below 1.
    pub(super) leverage: Vec<f64>,
}

impl Fit {
    /// Fits every column of `responses`. `None` if the features are collinear and nothing is
    /// penalised, or if a row alone determines a coefficient.
    pub(super) fn new(
        features: &DMatrix<f64>,
        responses: &DMatrix<f64>,
        penalty: f64,
    ) -> Option<Fit> {
        let rows = features.nrows();
        let width = features.ncols();
        let mean = |column: usize| responses.column(column).sum() / rows as f64;
        let intercepts: Vec<f64> = (0..responses.ncols()).map(mean).collect();
        let mut residuals = responses.clone();
        for (mut column, intercept) in residuals.column_iter_mut().zip(&intercepts) {
            column.add_scalar_mut(-intercept);
        }
        let mut leverage = vec![1.0 / rows as f64; rows];
        let (mut inverse, mut slopes) =
            (DMatrix::zeros(0, 0), DMatrix::zeros(0, responses.ncols()));
        if width > 0 {
            let mut normal = features.tr_mul(features);
            for index in 0..width {
                normal[(index, index)] += penalty * rows as f64;
            }
            inverse = normal.cholesky()?.inverse();
            slopes = &inverse * features.tr_mul(&residuals);
            residuals -= features * &slopes;
            let weights = features * &inverse;
            for (row, leverage) in leverage.iter_mut().enumerate() {
                *leverage += weights.row(row).dot(&features.row(row));
            }
        }
        if leverage.iter().any(|&h| h >= 1.0 - 1e-9) {
            return None;
        }
        // The residual without a row follows from the leverage, so no further fit is needed.
        for (mut row, h) in residuals.row_iter_mut().zip(&leverage) {
            row /= 1.0 - h;
        }
        Some(Fit { inverse, slopes, intercepts, left_out: residuals, leverage })
    }

    /// Each response's root mean square of left-out residuals, reduced to leverage 0. The second
    /// value is the number of these spreads that contain 90 % of all residuals.
    pub(super) fn spreads(&self) -> (Vec<f64>, f64) {
        let rows = self.leverage.len() as f64;
        let scale: Vec<f64> = self.leverage.iter().map(|h| (1.0 - h).sqrt()).collect();
        let mut ratios = Vec::new();
        let mut spreads = Vec::new();
        for column in self.left_out.column_iter() {
            let scaled: Vec<f64> = column.iter().zip(&scale).map(|(d, s)| d.abs() * s).collect();
            let spread = (scaled.iter().map(|d| d * d).sum::<f64>() / rows).sqrt();
            spreads.push(spread);
            if spread > 0.0 {
                ratios.extend(scaled.iter().map(|d| d / spread));
            }
        }
        ratios.sort_unstable_by(f64::total_cmp);
        (spreads, quantile(&ratios).unwrap_or(0.0))
    }

    /// The rows of the inverse.
    pub(super) fn inverse_rows(&self) -> Vec<Vec<f64>> {
        self.inverse.row_iter().map(|row| row.iter().copied().collect()).collect()
    }
}

/// The value below which 90 % of further such values lie. The values must be in order.
pub(super) fn quantile(values: &[f64]) -> Option<f64> {
    let rank = (0.9 * (values.len() + 1) as f64).ceil() as usize;
    values.get(rank.min(values.len()).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (DMatrix<f64>, DMatrix<f64>) {
        // Arbitrary numbers without a pattern.
        let value = |i: usize, j: usize| ((i * 7 + j * 3 + i * i * (j + 1)) % 11) as f64;
        let features = DMatrix::from_fn(9, 3, value);
        let responses = DMatrix::from_fn(9, 2, |i, j| value(i + 2, j + 4) / 3.0);
        (Standardised::new(features).values, responses)
    }

    /// The penalised sum of squares by its definition.
    fn loss(x: &DMatrix<f64>, y: &[f64], intercept: f64, slopes: &[f64], penalty: f64) -> f64 {
        let row = |i: usize| slopes.iter().enumerate().map(|(j, b)| b * x[(i, j)]).sum::<f64>();
        let squares: f64 = (0..y.len()).map(|i| (y[i] - intercept - row(i)).powi(2)).sum();
        squares + penalty * y.len() as f64 * slopes.iter().map(|b| b * b).sum::<f64>()
    }

    #[test]
    fn no_neighbour_of_the_solution_has_a_lower_loss() {
        let (x, y) = example();
        for penalty in [0.0, 0.1, 2.0] {
            let fit = Fit::new(&x, &y, penalty).unwrap();
            for response in 0..2 {
                let column: Vec<f64> = y.column(response).iter().copied().collect();
                let slopes: Vec<f64> = fit.slopes.column(response).iter().copied().collect();
                let intercept = fit.intercepts[response];
                let least = loss(&x, &column, intercept, &slopes, penalty);
                for step in [-1e-3, 1e-3] {
                    assert!(loss(&x, &column, intercept + step, &slopes, penalty) > least);
                    for j in 0..3 {
                        let mut other = slopes.clone();
                        other[j] += step;
                        assert!(loss(&x, &column, intercept, &other, penalty) > least);
                    }
                }
            }
        }
    }

    #[test]
    fn left_out_residuals_are_those_of_fits_without_the_row() {
        let (x, y) = example();
        let penalty = 0.3;
        let fit = Fit::new(&x, &y, penalty).unwrap();
        for out in 0..9 {
            // The intercept replaces centring. So the fit without a row has an explicit column of
            // ones that is not penalised.
            let rest = x.clone().remove_row(out).insert_column(0, 1.0);
            let mut normal = rest.tr_mul(&rest);
            for j in 1..4 {
                normal[(j, j)] += penalty * 9.0;
            }
            let all = normal.try_inverse().unwrap() * rest.tr_mul(&y.clone().remove_row(out));
            let row = x.rows(out, 1).into_owned().insert_column(0, 1.0);
            let expected = y.rows(out, 1) - row * all;
            for response in 0..2 {
                assert!((fit.left_out[(out, response)] - expected[response]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn collinear_features_need_a_penalty() {
        let column = |i: usize, _| i as f64;
        let x = Standardised::new(DMatrix::from_fn(6, 1, column)).values;
        let twice = DMatrix::from_columns(&[x.column(0), x.column(0)]);
        let y = DMatrix::from_fn(6, 1, |i, _| (i * i) as f64);
        assert!(Fit::new(&twice, &y, 0.0).is_none());
        let fit = Fit::new(&twice, &y, 0.1).unwrap();
        assert!((fit.slopes[0] - fit.slopes[1]).abs() < 1e-12);
    }

    #[test]
    fn a_constant_feature_says_nothing() {
        let x = Standardised::new(DMatrix::from_element(5, 1, 0.1));
        assert_eq!(x.moments[0].1, 1.0);
        assert!(x.values.iter().all(|&value| value == 0.0));
    }
}
