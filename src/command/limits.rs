//! The process's limits: how much memory a build may use, and how many files may be open.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many files a build may have open: a copy of each export, and up to a few hundred for each
/// sort.
const SCRATCH_FILES: u64 = 16_384;

/// Sets a build's limits: open files and memory. Allocations beyond the limit fail, which ends the
/// process. The default is three quarters of the memory of the machine or control group; the rest is
/// for the server.
pub(super) fn limit_build(memory_bytes: Option<u64>) {
    allow_open_files(SCRATCH_FILES);
    if let Some(bytes) = memory_bytes.or_else(|| Some(total()? / 4 * 3)) {
        let before = getrlimit(Resource::Data);
        // Don't raise a lower limit set by the environment.
        let current = before.maximum.map_or(bytes, |maximum| maximum.min(bytes));
        if let Err(error) = setrlimit(Resource::Data, Rlimit { current: Some(current), ..before }) {
            tracing::warn!(%error, "can't limit the build's memory");
        }
    }
}

/// The machine's memory, or the control group's limit if that's smaller, in bytes.
fn total() -> Option<u64> {
    let machine = machine_total(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|groups| group_limit(&groups, Path::new("/sys/fs/cgroup")));
    Some(group.map_or(machine, |group| group.min(machine)))
}

/// `MemTotal` from `/proc/meminfo`.
fn machine_total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The lowest `memory.max` of a control group and its ancestors (version 2,
/// <https://docs.kernel.org/admin-guide/cgroup-v2.html#memory>).
fn group_limit(groups: &str, root: &Path) -> Option<u64> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = root.join(path);
    let limits = group.ancestors().take_while(|folder| folder.starts_with(root));
    limits.filter_map(|folder| fs::read_to_string(folder.join("memory.max")).ok()?.trim().parse().ok()).min()
}

/// Raises the soft limit (1024 on most systems) towards the hard one, so that the process may open
/// `needed` files. Returns how many it may open; `None` if there's no limit.
pub(super) fn allow_open_files(needed: u64) -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
    let is_raised = raised > current && setrlimit(Resource::Nofile, Rlimit { current: Some(raised), ..limit }).is_ok();
    Some(if is_raised { raised } else { current })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_memory_is_read_in_bytes() {
        assert_eq!(machine_total("MemTotal:       24567890 kB\nMemFree: 1 kB\n"), Some(24_567_890 * 1024));
        assert_eq!(machine_total("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn the_lowest_limit_of_nested_groups_applies() {
        let root = tempfile::tempdir().expect("a folder");
        let inner = root.path().join("outer/inner");
        fs::create_dir_all(&inner).expect("folders");
        assert_eq!(group_limit("0::/outer/inner\n", root.path()), None);
        fs::write(inner.join("memory.max"), "max\n").expect("written");
        fs::write(root.path().join("outer/memory.max"), "1048576\n").expect("written");
        assert_eq!(group_limit("0::/outer/inner\n", root.path()), Some(1_048_576));
        assert_eq!(group_limit("1:name=systemd:/\n", root.path()), None);
    }
}
