//! Max-min fairness.

/// Divides `contexts` among several programs. `wants` has the number of threads that each wants.
///
/// No program gets more than it wants. Otherwise all programs get the same number, and the first ones get
/// the remainder. Each program gets at least one, so the sum may exceed `contexts`.
///
/// ```
/// use pacman_regions::sharing::shares;
/// assert_eq!(shares(8, &[8, 8]), [4, 4]);
/// assert_eq!(shares(8, &[1, 8, 8]), [1, 4, 3]);
/// assert_eq!(shares(1, &[8, 8]), [1, 1]);
/// ```
pub fn shares(contexts: u32, wants: &[u32]) -> Vec<u32> {
    let mut shares = vec![1; wants.len()];
    let mut left = contexts.saturating_sub(wants.len() as u32);
    while left > 0 {
        let before = left;
        for (share, &wanted) in shares.iter_mut().zip(wants) {
            if *share < wanted && left > 0 {
                *share += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Max-min fairness: who gets less than another, by more than what is left over, has all it wants.
        #[test]
        fn no_process_gets_more_while_another_lacks(
            contexts in 1u32..200,
            wants in proptest::collection::vec(1u32..100, 1..12),
        ) {
            let got = shares(contexts, &wants);
            for (one, (&mine, &wanted)) in got.iter().zip(&wants).enumerate() {
                prop_assert!((1..=wanted).contains(&mine));
                for (other, &its) in got.iter().enumerate() {
                    let most = mine + u32::from(other < one);
                    prop_assert!(mine == wanted || its <= most, "{got:?} of {wants:?}");
                }
            }
            let sum: u32 = got.iter().sum();
            let wanted: u32 = wants.iter().sum();
            prop_assert_eq!(sum, contexts.min(wanted).max(wants.len() as u32));
        }
    }
}
