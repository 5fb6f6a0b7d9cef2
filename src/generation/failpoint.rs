//! The steps of a generation's life at which tests let things go wrong: the process killed, a panic, a disk that refuses.
//!
//! With the feature `failpoints` the variable `FAILPOINTS` says what happens where, in the words of the crate `fail`:
//! `store::part_half=2*off->return(kill)` kills the process when the third part of a generation is half written. Without
//! the feature, as shipped, a step is nothing at all.

use std::io;

/// Declares the steps, so that each has its name in one place.
macro_rules! steps {
    ($($(#[doc = $doc:literal])+ $step:ident = $name:literal;)+) => {
        /// A step at which things can go wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Step {
            $($(#[doc = $doc])+ $step,)+
        }

        impl Step {
            /// All steps, in the order in which a reload comes by.
            pub const ALL: &'static [Self] = &[$(Self::$step),+];

            /// The name by which a test sets it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$step => $name,)+
                }
            }
        }
    };
}

steps! {
    /// Exports are about to be read.
    Read = "read";
    /// The records are laid out; words are about to be indexed.
    BuildBegun = "build::begun";
    /// A product is about to be indexed.
    BuildProduct = "build::product";
    /// All products are indexed; the engine's files are about to be made.
    BuildFinish = "build::finish";
    /// All parts are made; they are about to be opened.
    BuildOpen = "build::open";
    /// The index folder is about to be made, if there is none.
    StoreFolder = "store::folder";
    /// The lock is held.
    StoreLocked = "store::locked";
    /// The generation's folder is made and empty.
    StoreBegun = "store::begun";
    /// A part that another generation has is about to be linked.
    PartLink = "store::part_link";
    /// A part's file is made and empty.
    PartCreated = "store::part_created";
    /// Half a part is written.
    PartHalf = "store::part_half";
    /// A part is written and about to be synced.
    PartWritten = "store::part_written";
    /// A part is synced.
    PartSynced = "store::part_synced";
    /// The manifest's temporary file is made and empty.
    ManifestCreated = "store::manifest_created";
    /// Half the manifest is written.
    ManifestHalf = "store::manifest_half";
    /// The manifest is synced under its temporary name.
    ManifestSynced = "store::manifest_synced";
    /// The manifest has its name; its folder is about to be synced.
    ManifestRenamed = "store::manifest_renamed";
    /// The generation is whole; the index folder is about to be synced.
    StoreWhole = "store::whole";
    /// The temporary file of `CURRENT` is made and empty.
    CurrentCreated = "store::current_created";
    /// Half of `CURRENT` is written.
    CurrentHalf = "store::current_half";
    /// `CURRENT` is synced under its temporary name.
    CurrentSynced = "store::current_synced";
    /// `CURRENT` has its name: the generation is current; the index folder is about to be synced.
    CurrentRenamed = "store::current_renamed";
    /// Before the generations to keep are chosen.
    SweepBegun = "sweep::begun";
    /// An older generation is about to lose its manifest.
    SweepManifest = "sweep::manifest";
    /// An older generation has no manifest any more, but all its parts.
    SweepParts = "sweep::parts";
    /// All is swept.
    SweepDone = "sweep::done";
    /// A generation on disk is about to be opened, which is marked.
    Opening = "store::opening";
    /// The generation is about to be published.
    PublishBefore = "publish::before";
    /// The generation is published.
    PublishAfter = "publish::after";
}

/// Comes by a step at which the disk may refuse.
#[cfg(feature = "failpoints")]
pub(crate) fn reach(step: Step) -> io::Result<()> {
    use rustix::io::Errno;
    fail::fail_point!(step.as_str(), |what: Option<String>| {
        let errno = match what.as_deref() {
            Some("kill") => kill(),
            Some("full") => Errno::NOSPC,
            Some("readonly") => Errno::ROFS,
            Some("denied") => Errno::ACCESS,
            _ => Errno::IO,
        };
        Err(errno.into())
    });
    Ok(())
}

/// Without failpoints there is nothing to come by.
#[cfg(not(feature = "failpoints"))]
#[expect(clippy::unnecessary_wraps, reason = "with failpoints it can fail")]
pub(super) const fn reach(_: Step) -> io::Result<()> {
    Ok(())
}

/// Comes by a step at which nothing can be refused.
#[inline]
pub(crate) fn pass(step: Step) {
    drop(reach(step));
}

/// Ends the process as `kill -9` does: nothing is flushed, unwound or logged.
#[cfg(feature = "failpoints")]
fn kill() -> ! {
    use rustix::process::{Signal, getpid, kill_process};
    let _ = kill_process(getpid(), Signal::KILL);
    loop {
        std::thread::park();
    }
}
