//! What the terminal can show: its width, and whether it draws boxes.

use std::env;

/// The number of columns: `COLUMNS`, else what the terminal on standard output says, else 80.
pub(super) fn width() -> usize {
    let told = env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    told.filter(|&columns| columns > 0).or_else(asked).unwrap_or(80).clamp(NARROWEST, WIDEST)
}

/// Whether the locale's character set is UTF-8.
pub(super) fn is_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_some_and(|locale| names_utf8(&locale))
}

fn names_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

fn asked() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one `winsize`, and the pointer is to a live one; standard output
    // being closed or no terminal is answered with an error.
    let status = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    (status == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Below this even one core does not fit into its package.
const NARROWEST: usize = 40;

/// Beyond this the eye loses the row.
const WIDEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_name_their_character_set() {
        for locale in ["en_US.UTF-8", "C.utf8", "de_DE.UTF-8@euro"] {
            assert!(names_utf8(locale), "{locale}");
        }
        for locale in ["C", "POSIX", "en_US.ISO-8859-1"] {
            assert!(!names_utf8(locale), "{locale}");
        }
    }
}
