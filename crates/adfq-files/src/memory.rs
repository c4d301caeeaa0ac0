//! How much memory is left, to refuse a replay that cannot fit before hours of training rather than after.

use std::fs;
use std::path::Path;

/// The bytes of memory that this process may still take, as far as the system tells; `None` where it does not.
///
/// On Linux the least of `MemAvailable` and of what the limits of the process's control groups (version 1 and 2, as
/// containers and job schedulers set them) leave. Like `MemAvailable`, a group counts files cached in memory that
/// have not been used lately as free. Other processes may take the memory first, so this is an estimate.
///
/// ```
/// if let Some(free) = adfq_files::memory::available() {
///     assert!(free > 0);
/// }
/// ```
pub fn available() -> Option<u64> {
    if cfg!(target_os = "linux") { available_under(Path::new("/")) } else { None }
}

/// As [`available`], for a system whose `proc` and `sys` lie in the folder `root`.
fn available_under(root: &Path) -> Option<u64> {
    let machine = meminfo(&read(&root.join("proc/meminfo"))?)?;
    let groups = read(&root.join("proc/self/cgroup")).unwrap_or_default();
    groups.lines().filter_map(|line| group(root, line)).chain([machine]).min()
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// `MemAvailable` in bytes.
fn meminfo(text: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The names of the files of one version of control groups.
struct Version {
    mount: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// The line of `memory.stat`, for the group and those below it.
    cached: &'static str,
}

const V1: Version = Version {
    mount: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cached: "total_inactive_file ",
};
const V2: Version = Version {
    mount: "sys/fs/cgroup",
    limit: "memory.max",
    usage: "memory.current",
    cached: "inactive_file ",
};

/// What the group in a line `number:controllers:path` of `/proc/self/cgroup`, and the groups above it, leave.
fn group(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let version = match controllers {
        "" => V2,
        list if list.split(',').any(|controller| controller == "memory") => V1,
        _ => return None,
    };
    // Inside a container the path may be that outside, of which only the mount itself can be seen: folders that do
    // not exist say nothing.
    let path = Path::new(path.trim_start_matches('/'));
    let mount = root.join(version.mount);
    path.ancestors().filter_map(|ancestor| left(&mount.join(ancestor), &version)).min()
}

/// Limit − (usage − cached files) of one group; `None` without a limit ("max" in version 2).
fn left(folder: &Path, version: &Version) -> Option<u64> {
    let number = |name| read(&folder.join(name))?.trim().parse::<u64>().ok();
    let (limit, usage) = (number(version.limit)?, number(version.usage)?);
    let stat = read(&folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(version.cached)?.trim().parse().ok());
    Some(limit.saturating_sub(usage.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::{TempDir, tempdir};

    const MEMINFO: &str =
        "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    8000000 kB\n";
    const MACHINE: u64 = 8_192_000_000;

    /// A root with these files in it.
    fn system(files: &[(&str, &str)]) -> TempDir {
        let root = tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn available_in(files: &[(&str, &str)]) -> Option<u64> {
        available_under(system(files).path())
    }

    #[test]
    fn without_groups_the_machine_decides() {
        assert_eq!(available_in(&[("proc/meminfo", MEMINFO)]), Some(MACHINE));
        assert_eq!(available_in(&[]), None);
        assert_eq!(available_in(&[("proc/meminfo", "MemTotal: 16 kB\n")]), None);
    }

    #[test]
    fn meminfo_is_read_in_kilobytes_or_not_at_all() {
        assert_eq!(meminfo(MEMINFO), Some(MACHINE));
        for text in [
            "",
            "MemAvailable:",
            "MemAvailable: 12",
            "MemAvailable: -1 kB",
            "MemAvailable: 99999999999999999 kB",
        ] {
            assert_eq!(meminfo(text), None, "{text}");
        }
    }

    #[test]
    fn version_2_takes_the_tightest_group_on_the_way_up() {
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "0::/job/step\n"),
            ("sys/fs/cgroup/job/step/memory.max", "max\n"),
            ("sys/fs/cgroup/job/step/memory.current", "100\n"),
            ("sys/fs/cgroup/job/memory.max", "2000000\n"),
            ("sys/fs/cgroup/job/memory.current", "1500000\n"),
            ("sys/fs/cgroup/job/memory.stat", "anon 900000\ninactive_file 400000\nactive_file 7\n"),
        ];
        assert_eq!(available_in(&files), Some(2_000_000 - 1_500_000 + 400_000));
        assert_eq!(available_in(&files[..6]), Some(500_000), "no statistics: nothing is taken as cached");
        assert_eq!(available_in(&files[..4]), Some(MACHINE), "no limit");
    }

    #[test]
    fn version_1_reads_its_own_names() {
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 250000\n"),
        ];
        assert_eq!(available_in(&files), Some(2_250_000));
    }

    #[test]
    fn more_used_than_allowed_leaves_nothing() {
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "1000\n"),
            ("sys/fs/cgroup/memory.current", "2000\n"),
        ];
        assert_eq!(available_in(&files), Some(0));
    }

    #[test]
    fn limits_beyond_the_machine_and_nonsense_do_not_count() {
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/self/cgroup", "nonsense\n0::\n4:memory:/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n"),
            ("sys/fs/cgroup/memory.max", "many\n"),
        ];
        assert_eq!(available_in(&files), Some(MACHINE));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_some() {
        assert!(available().unwrap() > 0);
    }
}
