//! What the file system can do to us, done to us.

use super::*;
use tempfile::tempdir;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn writes_replaces_and_leaves_nothing_else() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a/b/file.txt");
    write_atomic(&path, b"one").unwrap();
    write_atomic(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(path.parent().unwrap()), ["file.txt"]);
}

#[test]
fn stale_temporaries_go_and_living_ones_stay() {
    let dir = tempdir().unwrap();
    let stale = dir.path().join(format!(".old.json.1-0{PARTIAL}"));
    let living = dir.path().join(format!(".new.json.1-1{PARTIAL}"));
    fs::write(&stale, "half").unwrap();
    let writer = File::create(&living).unwrap();
    writer.lock().unwrap();
    write_atomic(dir.path().join("file"), b"x").unwrap();
    assert!(!stale.exists() && living.exists());
    drop(writer);
    remove_stale(dir.path()).unwrap();
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn a_failed_rename_removes_the_temporary() {
    let dir = tempdir().unwrap();
    let taken = dir.path().join("taken");
    fs::create_dir_all(taken.join("full")).unwrap();
    let error = write_atomic(&taken, b"x").unwrap_err();
    assert!(error.to_string().contains("taken"), "{error}");
    assert_eq!(names(dir.path()), ["taken"]);
}

#[test]
fn a_file_in_place_of_a_folder_is_named() {
    let dir = tempdir().unwrap();
    let blocker = dir.path().join("blocker");
    fs::write(&blocker, "").unwrap();
    let error = write_atomic(blocker.join("sub/file"), b"x").unwrap_err();
    assert!(matches!(&error, Error::Folder { path, .. } if path.ends_with("blocker/sub")), "{error}");
    assert!(error.to_string().contains("choose a folder"), "{error}");
}

#[test]
fn paths_that_name_no_file_are_refused() {
    let dir = tempdir().unwrap();
    let error = write_atomic(dir.path().join(".."), b"x").unwrap_err();
    assert!(matches!(error, Error::NotAFile(_)), "{error}");
}

#[cfg(unix)]
#[test]
fn an_unwritable_folder_is_denied() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if File::create(dir.path().join("probe")).is_ok() {
        eprintln!("skipped: this user (root?) may write to any folder");
        return;
    }
    let error = write_atomic(dir.path().join("file"), b"x").unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error}");
    assert!(error.to_string().contains("make the folder writable"), "{error}");
}

/// Every write to /dev/full fails with ENOSPC.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_says_how_much_was_needed() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: there is no /dev/full here");
        return;
    };
    let error = Error::write(
        Path::new("curve.csv"),
        8,
        write_through(&full, |file| file.write_all(b"12345678")).unwrap_err(),
    );
    assert!(matches!(error, Error::DiskFull { needed: 8, .. }), "{error}");
}

/// The whole way on a disk of 64 kB, where the user may mount one: the old file survives, no temporary remains.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_the_old_file() {
    use std::process::Command;
    struct Mounted(tempfile::TempDir);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0.path()).status();
        }
    }
    let dir = tempdir().unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(dir.path()).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    }
    let disk = Mounted(dir);
    let path = disk.0.path().join("curve.csv");
    write_atomic(&path, b"old").unwrap();
    let error = write_atomic(&path, &[b'x'; 100_000]).unwrap_err();
    assert!(matches!(error, Error::DiskFull { needed: 100_000, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(disk.0.path()), ["curve.csv"]);
    write_atomic(&path, &[b'x'; 10_000]).unwrap();
}

/// Writers and cleaners in each other's way: every write succeeds and the file is always one of the whole ones.
#[test]
fn concurrent_writers_do_not_disturb_each_other() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("shared");
    std::thread::scope(|scope| {
        for letter in *b"abcd" {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..25 {
                    write_atomic(path, &[letter; 5000]).unwrap();
                    let read = fs::read(path).unwrap();
                    assert!(read.len() == 5000 && read.iter().all(|&byte| byte == read[0]));
                }
            });
        }
    });
    assert_eq!(names(dir.path()), ["shared"]);
}
