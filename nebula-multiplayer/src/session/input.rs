//! Inputs: each processed once, none from the far past, none from the far future.

/// What to do with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputVerdict {
    /// New: process it.
    Fresh,
    /// Processed already.
    Repeated,
    /// Older than the window: too late to matter.
    TooOld,
    /// Further ahead than the window: not to be believed.
    TooNew,
}

/// Which inputs of one client were processed, by the numbers that the client gives them.
///
/// Numbers count up by one per input and may wrap. The window reaches 64 back and 1,024 ahead of
/// the newest; once after [`reopen`](Self::reopen) it reaches ahead as far as need be.
///
/// ```
/// use nebula_multiplayer::session::{InputVerdict, InputWindow};
///
/// let mut window = InputWindow::default();
/// assert_eq!(window.note(10), InputVerdict::Fresh);
/// assert_eq!(window.note(10), InputVerdict::Repeated);
/// assert_eq!(window.note(8), InputVerdict::Fresh, "late, but within the window");
/// assert_eq!(window.note(5_000), InputVerdict::TooNew);
/// assert_eq!(window.newest(), Some(10), "nothing rewinds it");
/// ```
#[derive(Clone, Debug, Default)]
pub struct InputWindow {
    newest: Option<u32>,
    /// Bit `n` is set when `newest - 1 - n` was processed.
    before: u64,
    /// Whether the newest may be left behind by any number, once.
    open: bool,
}

const AHEAD: u32 = 1_024;

impl InputWindow {
    /// Returns the newest number that was processed.
    #[must_use]
    pub const fn newest(&self) -> Option<u32> {
        self.newest
    }

    /// Lets one input be any number ahead: a client that comes back to its session may have gone on
    /// counting while its link was gone, and would never be listened to again.
    ///
    /// What was processed stays so.
    ///
    /// ```
    /// use nebula_multiplayer::session::{InputVerdict, InputWindow};
    ///
    /// let mut window = InputWindow::default();
    /// window.note(10);
    /// window.reopen();
    /// assert_eq!(window.note(11), InputVerdict::Fresh, "one that waited for the link");
    /// assert_eq!(window.note(5_000), InputVerdict::Fresh);
    /// assert_eq!(window.note(9_000), InputVerdict::TooNew);
    /// ```
    pub const fn reopen(&mut self) {
        self.open = true;
    }

    /// Notes an input and says whether to process it. The first number is taken as it is.
    pub fn note(&mut self, number: u32) -> InputVerdict {
        let Some(newest) = self.newest else {
            self.newest = Some(number);
            return InputVerdict::Fresh;
        };
        let ahead = number.wrapping_sub(newest);
        if ahead == 0 {
            return InputVerdict::Repeated;
        }
        if ahead < 1 << 31 {
            if ahead > AHEAD && !core::mem::take(&mut self.open) {
                return InputVerdict::TooNew;
            }
            let bit = 1_u64.checked_shl(ahead.saturating_sub(1)).unwrap_or(0);
            self.before = self.before.checked_shl(ahead).unwrap_or(0) | bit;
            self.newest = Some(number);
            return InputVerdict::Fresh;
        }
        let back = newest.wrapping_sub(number);
        let Some(bit) = 1_u64.checked_shl(back.saturating_sub(1)) else {
            return InputVerdict::TooOld;
        };
        if self.before & bit != 0 {
            return InputVerdict::Repeated;
        }
        self.before |= bit;
        InputVerdict::Fresh
    }
}
