//! Text from strangers: what is allowed in, and how it is shown.

use super::DecodeError;

/// Checks that text is safe to show and to log: no control characters (so no newlines and no
/// terminal escapes) and no characters of zero width or that turn the reading direction.
///
/// # Errors
/// [`DecodeError::BadText`] otherwise.
///
/// ```
/// use nebula_multiplayer::wire::check_text;
///
/// assert!(check_text("a name", "Anaïs").is_ok());
/// assert!(check_text("a name", "line\nbreak").is_err());
/// assert!(check_text("a name", "\u{202E}evil").is_err());
/// ```
pub fn check_text(what: &'static str, text: &str) -> Result<(), DecodeError> {
    if text.chars().any(is_hidden) {
        Err(DecodeError::BadText { what })
    } else {
        Ok(())
    }
}

/// Returns the first `max` characters of `text` with everything escaped that could forge a line
/// or colour a terminal.
///
/// ```
/// use nebula_multiplayer::wire::printable;
///
/// assert_eq!(printable("ok\n\u{1b}[31m", 80), "ok\\n\\u{1b}[31m");
/// assert_eq!(printable("abcdef", 3), "abc…");
/// ```
#[must_use]
pub fn printable(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    for c in chars.by_ref().take(max) {
        if is_hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Returns whether a character is invisible or changes how others look.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{00AD}'
                | '\u{061C}'
                | '\u{180E}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{E0000}'..='\u{E007F}'
        )
}
