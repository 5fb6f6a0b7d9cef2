//! How much of the processor a build may take from the requests being answered beside it.

/// How nice the keeper's thread is, from 0 to 19: where a request wants the processor too, it gets it, and a build still
/// gets its tenth.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Lowers the priority of the calling thread, and with it of the threads that it starts from now on. Where the system
/// has no priorities of single threads, nothing changes.
pub fn lower_own() {
    // On Linux the caller's thread alone; elsewhere the whole process, which must stay as it is.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "builds have the priority of requests");
    }
}
