//! The value of `--threads`.

use std::str::FromStr;

/// How the number of threads of a team is set before the program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As the environment has it.
    Keep,
    /// As many as can run at once, if the environment does not say.
    Auto,
    Number(u32),
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Threads, String> {
        match text {
            "keep" => Ok(Threads::Keep),
            "auto" => Ok(Threads::Auto),
            _ => match text.parse() {
                Ok(threads @ 1..=65_536) => Ok(Threads::Number(threads)),
                _ => Err("it is a number from 1 to 65536, auto or keep".to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_a_number_auto_or_keep() {
        assert_eq!("4".parse(), Ok(Threads::Number(4)));
        assert_eq!("auto".parse(), Ok(Threads::Auto));
        assert_eq!("keep".parse(), Ok(Threads::Keep));
        for wrong in ["0", "-1", "65537", "many", ""] {
            assert!(wrong.parse::<Threads>().is_err(), "{wrong}");
        }
    }
}
