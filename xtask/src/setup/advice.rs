//! What to do when something cannot be provisioned: every other way to get it.

use std::fmt::Write as _;

use super::pins::{Pin, What};
use crate::find::{INCLUDE_DIR, OLDEST};

/// One message for all that failed. What failed for the same reason shares a line.
pub(super) fn failure(failed: &[(&Pin, anyhow::Error)]) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (pin, error) in failed {
        let reason = format!("{error:#}");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(pin.name()),
            None => reasons.push((reason, vec![pin.name()])),
        }
    }
    let mut text = String::new();
    for (reason, names) in &reasons {
        let _ = writeln!(text, "{} could not be provisioned: {reason}", names.join(", "));
    }
    let any = |test: fn(&What) -> bool| failed.iter().any(|(pin, _)| test(&pin.what));
    let wheels = any(|what| !matches!(what, What::Driver { .. }));
    text += "Any one of these helps:\n";
    if wheels {
        text += "  - have python3 with pip (Debian and Ubuntu: python3-pip) and a package index it can reach, and run this again;\n";
    }
    if any(|what| matches!(what, What::Driver { .. })) {
        text += "  - run this on Debian with its archive (main) among the apt sources;\n";
    }
    text += "  - place the archive into .cuda/downloads/ under its own name, and run this again:\n";
    for (pin, _) in failed {
        let _ = writeln!(text, "      {} (package {} {}, sha256 {})", pin.file, pin.package, pin.version, pin.sha256);
    }
    if any(|what| matches!(what, What::Headers(_))) {
        let _ = writeln!(
            text,
            "  - use headers that you have ({OLDEST} or newer): install the CUDA toolkit and set CUDA_HOME, or set {INCLUDE_DIR} to a \
             folder that holds cuda.h;"
        );
    }
    if any(|what| matches!(what, What::Libclang { .. })) {
        text += "  - install libclang (Debian and Ubuntu: libclang-dev; Fedora: clang-devel), or set LIBCLANG_PATH to its folder;\n";
    }
    text.truncate(text.trim_end_matches([';', ':', '\n']).len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scratch::pin;
    use anyhow::anyhow;

    #[test]
    fn every_archive_is_named_and_every_reason_said_once() {
        let (a, b) = (pin("a.whl", b"a"), pin("b.whl", b"b"));
        let text = failure(&[(&a, anyhow!("no network")), (&b, anyhow!("no network"))]);
        assert_eq!(text.matches("no network").count(), 1);
        for needed in
            ["a.whl", "b.whl", &a.sha256, "synthetic 13.5.1", "CUDA_HOME", "CUDA_SYS_INCLUDE_DIR", ".cuda/downloads/"]
        {
            assert!(text.contains(needed), "{needed} is not in: {text}");
        }
        assert!(!text.contains("Debian with its archive") && !text.contains("LIBCLANG_PATH"));
    }
}
