//! SHA-256 of files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use super::pins::Pin;

/// The digest of a file, in lower-case hexadecimal.
pub(super) fn of(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether a file is the pinned one.
pub(super) fn verify(file: &Path, pin: &Pin) -> Result<()> {
    let actual = of(file).with_context(|| format!("cannot read {}", file.display()))?;
    let size = file.metadata()?.len();
    ensure!(
        actual == pin.sha256,
        "checksum mismatch of {}: expected sha256 {} ({} bytes), got {actual} ({size} bytes)",
        pin.file,
        pin.sha256,
        pin.size
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn digests_are_those_of_the_standard() {
        let folder = crate::setup::scratch::Folder::new();
        let file = folder.write("abc", b"abc");
        assert_eq!(super::of(&file).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
