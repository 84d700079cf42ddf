//! Names of Python functions that Cython compiled.

/// The dotted name of a function, from the name that Cython gives its C function: `__pyx_f_` for a function of C,
/// `__pyx_pf_` for one of Python, with `__pyx_fuse_1` before it for an instance of a fused function.
///
/// The packages, the module and the class come first, each as its length and its name. The rest is the function, which
/// for Python has a number before it. That number may be a length as well: `4find_node` is `find_node` behind a class,
/// which begins with a capital letter, and `find.node` elsewhere.
pub(super) fn function(symbol: &str) -> Option<String> {
    let mut rest = symbol;
    while let Some(fused) = rest.strip_prefix("__pyx_fuse_") {
        rest = fused.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    let mut rest = ["__pyx_f_", "__pyx_pf_"].iter().find_map(|mark| rest.strip_prefix(mark))?;
    let mut words = Vec::new();
    while let Some((word, behind)) = scope(rest) {
        words.push(word);
        rest = behind;
        if word.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            break;
        }
    }
    let own = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    words.push(own);
    (words.len() > 1 && !own.is_empty()).then(|| words.join("."))
}

/// A word with its length before it and something behind it.
fn scope(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (length, word) = text.split_at(digits);
    let length = length.parse().ok()?;
    let (word, behind) = (word.get(..length)?, word.get(length..)?);
    Some((word, behind.strip_prefix('_')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_modules_classes_and_functions_have_dots_between_them() {
        // As nm(1) shows them, of scikit-learn 1.9 and SciPy 1.17 by Cython 3.
        for (symbol, name) in [
            (
                "__pyx_pf_7sklearn_7cluster_14_k_means_lloyd_6lloyd_iter_chunked_dense",
                "sklearn.cluster._k_means_lloyd.lloyd_iter_chunked_dense",
            ),
            (
                "__pyx_f_7sklearn_8ensemble_23_hist_gradient_boosting_8_binning__map_col_to_bins",
                "sklearn.ensemble._hist_gradient_boosting._binning._map_col_to_bins",
            ),
            (
                "__pyx_fuse_1__pyx_f_7sklearn_7cluster_15_k_means_common__inertia_dense",
                "sklearn.cluster._k_means_common._inertia_dense",
            ),
            (
                "__pyx_pf_7sklearn_5_loss_5_loss_18CyHalfBinomialLoss_8loss",
                "sklearn._loss._loss.CyHalfBinomialLoss.loss",
            ),
            (
                "__pyx_pf_7sklearn_8ensemble_23_hist_gradient_boosting_9splitting_8Splitter_4find_node_split",
                "sklearn.ensemble._hist_gradient_boosting.splitting.Splitter.find_node_split",
            ),
        ] {
            assert_eq!(function(symbol).as_deref(), Some(name));
        }
        for symbol in ["main", "__pyx_pf_", "__pyx_f_main", "__pyx_pf_99short", "__pyx_f_3abc_"] {
            assert_eq!(function(symbol), None, "{symbol}");
        }
    }
}
