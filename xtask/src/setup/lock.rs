//! One setup at a time: a lock on `.cuda/lock`, which the system releases when its holder ends, however it ends.

use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Holds the lock as long as it lives.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "kept open: closing it releases the lock")] File);

impl Lock {
    /// Waits for the lock; `waiting` is told for whom.
    pub(super) fn acquire(folder: &Path, waiting: impl FnOnce(&str)) -> Result<Self> {
        let path = folder.join("lock");
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(|| format!("cannot write to {}", folder.display()))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let holder = fs::read_to_string(&path).unwrap_or_default();
                waiting(holder.trim());
                file.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        }
        .with_context(|| format!("cannot lock {}", path.display()))?;
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "{}", std::process::id())?;
        Ok(Self(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scratch::Folder;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn the_second_waits_for_the_first_and_is_told_whom_for() {
        let folder = Folder::new();
        let first = Lock::acquire(folder.path(), |_| panic!("nobody holds it")).unwrap();
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            let second =
                scope.spawn(|| Lock::acquire(folder.path(), |pid| tell.send(pid.to_owned()).unwrap()).unwrap());
            let pid = told.recv_timeout(Duration::from_secs(10)).unwrap();
            assert_eq!(pid, std::process::id().to_string());
            assert!(!second.is_finished());
            drop(first);
            second.join().unwrap();
        });
    }
}
