//! Archives: the part that a pin takes, and never a file outside the folder it goes to.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use zip::ZipArchive;

use super::pins::Pin;
use super::tool;

/// Unpacks a wheel's folder or file into `folder`.
pub(super) fn wheel(archive: &Path, pin: &Pin, folder: &Path) -> Result<()> {
    let mut zip = ZipArchive::new(BufReader::new(File::open(archive)?))?;
    let mut taken = 0;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index)?;
        let Some(path) = entry.enclosed_name() else { bail!("the archive has the unsafe path `{}`", entry.name()) };
        let Ok(inner) = path.strip_prefix(&pin.take) else { continue };
        if entry.is_dir() {
            continue;
        }
        ensure!(entry.is_file(), "the archive has a link, `{}`", entry.name());
        let mut target = folder.join(pin.keep());
        if !inner.as_os_str().is_empty() {
            target.push(inner);
        }
        let parent = target.parent().unwrap_or(folder);
        fs::create_dir_all(parent)?;
        let mut file = File::create(&target).with_context(|| format!("cannot write {}", target.display()))?;
        io::copy(&mut entry, &mut file).with_context(|| format!("cannot unpack {}", entry.name()))?;
        taken += 1;
    }
    ensure!(taken > 0, "the archive has no `{}`", pin.take);
    Ok(())
}

/// Unpacks a Debian package's file into `folder`.
pub(super) fn deb(archive: &Path, pin: &Pin, staging: &Path, folder: &Path) -> Result<()> {
    let whole = staging.join("deb-contents");
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("--extract").arg(archive).arg(&whole);
    tool::run(&mut unpack, &staging.join("dpkg.log"), || ()).context("cannot unpack a Debian package")?;
    fs::create_dir_all(folder)?;
    fs::rename(whole.join(&pin.take), folder.join(pin.keep()))
        .with_context(|| format!("the package has no {}", pin.take))?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(pin.keep(), folder.join("libcuda.so"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scratch::{Folder, pin, zip};

    #[test]
    fn only_what_the_pin_takes_is_unpacked() {
        let folder = Folder::new();
        let archive = folder.write(
            "a.whl",
            &zip(&[("pkg/include/cuda.h", b"one"), ("pkg/include/sub/x.h", b"two"), ("pkg/lib/z", b"")]),
        );
        wheel(&archive, &pin("a.whl", b""), &folder.path().join("out")).unwrap();
        assert_eq!(fs::read(folder.path().join("out/include/cuda.h")).unwrap(), b"one");
        assert_eq!(fs::read(folder.path().join("out/include/sub/x.h")).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 1);
    }

    #[test]
    fn a_path_that_leaves_the_folder_is_refused() {
        for evil in ["pkg/include/../../../evil", "../evil", "/evil"] {
            let folder = Folder::new();
            let archive = folder.write("a.whl", &zip(&[(evil, b"evil"), ("pkg/include/cuda.h", b"")]));
            let out = folder.path().join("a/b/c/out");
            let outcome = wheel(&archive, &pin("a.whl", b""), &out);
            assert!(
                !folder.path().join("a/b/c/evil").exists()
                    && !folder.path().join("a/b/evil").exists()
                    && !Path::new("/evil").exists()
            );
            if evil.contains("..") {
                assert!(outcome.unwrap_err().to_string().contains("unsafe path"));
            }
        }
    }

    #[test]
    fn an_archive_without_the_folder_or_cut_short_is_an_error() {
        let folder = Folder::new();
        let whole = zip(&[("other/cuda.h", b"x")]);
        let archive = folder.write("a.whl", &whole);
        let error = wheel(&archive, &pin("a.whl", b""), &folder.path().join("out")).unwrap_err();
        assert_eq!(error.to_string(), "the archive has no `pkg/include`");
        let archive = folder.write("b.whl", &whole[..whole.len() / 2]);
        assert!(wheel(&archive, &pin("b.whl", b""), &folder.path().join("out")).is_err());
    }
}
