//! How long builds take from nothing, side by side with another crate's.

use std::fs;
use std::time::Instant;

use anyhow::{Result, ensure};

use super::hot_paths::CUDARC_MANIFEST;

struct Build {
    name: &'static str,
    command: &'static [&'static str],
}

/// The first is what the others are divided by.
const BUILDS: [Build; 4] = [
    Build {
        name: "cudarc, its feature driver",
        command: &["build", "--manifest-path", CUDARC_MANIFEST, "--package", "cudarc"],
    },
    Build { name: "cuda-hostfn, from headers", command: &["build", "--package", "cuda-hostfn"] },
    Build {
        name: "cuda-hostfn, carried bindings",
        command: &["build", "--package", "cuda-hostfn", "--no-default-features"],
    },
    Build { name: "xtask, stage one", command: &["build", "--package", "xtask", "--bin", "xtask"] },
];

/// Interleaved, since machines have moods.
const ROUNDS: usize = 3;

pub(super) fn time() -> Result<()> {
    let folder = crate::target().join("cold");
    let mut times = [const { Vec::new() }; BUILDS.len()];
    for _ in 0..ROUNDS {
        for (build, times) in BUILDS.iter().zip(&mut times) {
            let _ = fs::remove_dir_all(&folder);
            let mut cargo = crate::cargo();
            cargo.args(build.command).args(["--quiet", "--jobs", "2"]).env("CARGO_TARGET_DIR", &folder);
            let start = Instant::now();
            ensure!(cargo.status()?.success(), "{} does not build", build.name);
            times.push(start.elapsed().as_secs_f64());
        }
    }
    println!("{:32} {:>15}   times {}", "cold build, seconds: min, median", "", BUILDS[0].name);
    let numbers = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[0], times[times.len() / 2])
    });
    let (first_min, first_median) = numbers[0];
    for (build, (min, median)) in BUILDS.iter().zip(numbers) {
        let ratios = format!("{:.2} {:.2}", min / first_min, median / first_median);
        println!("{:32} {:>15}   {ratios}", build.name, format!("{min:.1} {median:.1}"));
    }
    Ok(())
}
