//! A fingerprint against accidents: cut files, edited figures, other data.

/// FNV-1a with 64 bits, as 16 hexadecimal digits.
///
/// Any change of one byte changes it, since every step is a bijection of the state. It does not
/// protect against intended deception.
pub(super) fn fingerprint(bytes: &[u8]) -> String {
    let hash =
        bytes.iter().fold(OFFSET, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    format!("{hash:016x}")
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::fingerprint;

    /// The vectors that the algorithm's authors publish.
    #[test]
    fn known_answers() {
        for (text, answer) in
            [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
        {
            assert_eq!(fingerprint(text.as_bytes()), answer);
        }
    }
}
