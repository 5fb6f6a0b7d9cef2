//! Reads long lists in steps.

/// How many entries of a list are read between checks of whether to go on.
const AT_ONCE: usize = 4096;

/// A list's entries, for as long as `pays` agrees to read this many more. They're only counted or
/// compared with a filter, so a million take a few milliseconds.
pub fn read_while<T>(entries: &[T], mut pays: impl FnMut(usize) -> bool) -> impl Iterator<Item = &T> {
    entries.chunks(AT_ONCE).take_while(move |some| pays(some.len())).flatten()
}
