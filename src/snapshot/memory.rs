//! What the process holds of the system's memory: no more than it needs, though a build needs several times what is served.

/// Large enough to come from the system by itself and to go back to it, small enough to cost next to nothing, in bytes.
const NUDGE: usize = 4 << 20;

/// Has the allocator take single pages of the system's memory and no huge ones, of which it would hold many for the sake
/// of a few bytes in each. To be called before much is allocated. Where the system has none, nothing changes.
pub fn use_small_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "memory comes in huge pages, if the system likes");
    }
}

/// Has the allocator give back what was freed a while ago. It does so whenever something is freed, so an idle process
/// would hold for good what its last build needed, or its last download.
pub fn give_back() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(NUDGE)));
}
