//! Steps in a generation's life cycle where tests inject faults: a killed process, a panic, a
//! failing disk.
//!
//! With the `failpoints` feature, the `FAILPOINTS` variable says what happens at which step, in the
//! syntax of the `fail` crate: `store::part_half=2*off->return(kill)` kills the process when the
//! third part of a generation is half written. Without the feature, as in releases, a step does
//! nothing.

use std::io;

/// Declares the steps, so each name is written in only one place.
macro_rules! steps {
    ($($(#[doc = $doc:literal])+ $step:ident = $name:literal;)+) => {
        /// A step where a fault can be injected.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Step {
            $($(#[doc = $doc])+ $step,)+
        }

        impl Step {
            /// All steps, in the order in which a reload passes them.
            pub const ALL: &'static [Self] = &[$(Self::$step),+];

            /// The name that tests use for the step.
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
    /// The records are in order, and words are about to be indexed.
    BuildBegun = "build::begun";
    /// A product is about to be indexed.
    BuildProduct = "build::product";
    /// All products have been indexed, and the index's files are about to be created.
    BuildFinish = "build::finish";
    /// All parts exist and are about to be opened.
    BuildOpen = "build::open";
    /// The index folder is about to be created if it doesn't exist.
    StoreFolder = "store::folder";
    /// The lock is held.
    StoreLocked = "store::locked";
    /// The generation's folder exists and is empty.
    StoreBegun = "store::begun";
    /// A part that another generation already has is about to be linked.
    PartLink = "store::part_link";
    /// A part's file exists and is empty.
    PartCreated = "store::part_created";
    /// Half a part has been written.
    PartHalf = "store::part_half";
    /// A part has been written and is about to be synced.
    PartWritten = "store::part_written";
    /// A part has been synced.
    PartSynced = "store::part_synced";
    /// The manifest's temporary file exists and is empty.
    ManifestCreated = "store::manifest_created";
    /// Half the manifest has been written.
    ManifestHalf = "store::manifest_half";
    /// The manifest has been synced under its temporary name.
    ManifestSynced = "store::manifest_synced";
    /// The manifest has its final name, and its folder is about to be synced.
    ManifestRenamed = "store::manifest_renamed";
    /// The generation is complete, and the index folder is about to be synced.
    StoreWhole = "store::whole";
    /// The temporary file of `CURRENT` exists and is empty.
    CurrentCreated = "store::current_created";
    /// Half of `CURRENT` has been written.
    CurrentHalf = "store::current_half";
    /// `CURRENT` has been synced under its temporary name.
    CurrentSynced = "store::current_synced";
    /// `CURRENT` has its final name, so the generation is current, and the index folder is about to
    /// be synced.
    CurrentRenamed = "store::current_renamed";
    /// The generations to keep are about to be chosen.
    SweepBegun = "sweep::begun";
    /// An older generation is about to lose its manifest.
    SweepManifest = "sweep::manifest";
    /// An older generation has lost its manifest, but still has all its parts.
    SweepParts = "sweep::parts";
    /// Sweeping has finished.
    SweepDone = "sweep::done";
    /// A generation on disk is about to be opened, and has been marked as such.
    Opening = "store::opening";
    /// The generation is about to be published.
    PublishBefore = "publish::before";
    /// The generation has been published.
    PublishAfter = "publish::after";
}

/// Passes a step where the disk may fail.
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

/// Without failpoints, this does nothing.
#[cfg(not(feature = "failpoints"))]
#[expect(clippy::unnecessary_wraps, reason = "with failpoints it can fail")]
pub(super) const fn reach(_: Step) -> io::Result<()> {
    Ok(())
}

/// Passes a step where nothing can fail.
#[inline]
pub(crate) fn pass(step: Step) {
    drop(reach(step));
}

/// Ends the process like `kill -9`: nothing is flushed, unwound or logged.
#[cfg(feature = "failpoints")]
fn kill() -> ! {
    use rustix::process::{Signal, getpid, kill_process};
    let _ = kill_process(getpid(), Signal::KILL);
    loop {
        std::thread::park();
    }
}
