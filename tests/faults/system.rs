//! Processes as the operating system shows them, and operations that need root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Resident memory in KiB.
pub(crate) fn rss_kib(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a running process");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// The niceness of a process's main thread.
pub(crate) fn niceness(pid: u32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, fields) = stat.rsplit_once(") ").expect("fields after the name");
    fields.split(' ').nth(16).expect("the nineteenth field").parse().expect("a number")
}

/// Open file descriptors.
pub(crate) fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("a process").count()
}

/// The names of a process's threads, sorted.
pub(crate) fn threads(pid: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("a process");
    // A thread may have exited in the meantime.
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let mut names: Vec<_> = names.map(|name| name.trim_end().to_owned()).collect();
    names.sort();
    names
}

/// Whether this process is running as root, which isn't restricted by permissions.
pub(crate) fn is_superuser() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).expect("a user");
    line.split_whitespace().nth(1) == Some("0")
}

/// A tiny file system mounted over a folder, unmounted when dropped.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a file system; `None` if that isn't allowed.
    pub(crate) fn mount(folder: &Path, options: &str) -> Option<Self> {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder);
        run(&mut command).then(|| Self(folder.to_owned()))
    }

    /// Remounts the file system with these options, such as `ro`.
    pub(crate) fn remount(&self, options: &str) {
        let mut command = Command::new("mount");
        command.args(["-o", &format!("remount,{options}")]).arg(&self.0);
        assert!(run(&mut command), "remounted");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run(Command::new("umount").arg("-l").arg(&self.0));
    }
}

fn run(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
