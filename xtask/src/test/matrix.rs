//! Header × driver: how many of the functions that a header declares a driver's library does not have. The suite
//! `drivers` leaves a file for each cell.

use std::fmt::Write;
use std::path::PathBuf;
use std::{fs, io};

use crate::find::Version;
use crate::setup::Driver;

/// Tells the suite where to leave the cells.
pub(crate) const FOLDER_VARIABLE: &str = "CUDA_TESTS_REPORT";

/// Where the cells are: one file each, the number of functions first, then a missing name a line.
pub(crate) fn folder() -> PathBuf {
    crate::target().join("driver-symbols")
}

/// Forgets an earlier run.
pub(crate) fn clear() -> io::Result<()> {
    match fs::remove_dir_all(folder()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The matrix, a header a row.
pub(crate) fn text(headers: &[Version], drivers: &[Driver]) -> String {
    let mut text = format!(
        "functions of a header that a driver (and its CUDA version) lacks; their names: {}\n",
        folder().display()
    );
    let _ = write!(text, "{:<12}{:>12}", "header", "functions");
    for driver in drivers {
        let _ = write!(text, "{:>20}", format!("{} ({})", driver.version, driver.cuda));
    }
    for header in headers {
        let cells = drivers.iter().map(|driver| cell(*header, driver)).collect::<Vec<_>>();
        let functions =
            cells.iter().flatten().next().map_or_else(|| "?".to_owned(), |(functions, _)| functions.clone());
        let _ = write!(text, "\n{header:<12}{functions:>12}", header = header.to_string());
        for cell in cells {
            let _ = write!(
                text,
                "{:>20}",
                cell.map_or_else(|| "did not run".to_owned(), |(_, missing)| missing.to_string())
            );
        }
    }
    text.push('\n');
    text
}

fn cell(header: Version, driver: &Driver) -> Option<(String, usize)> {
    let major = driver.version.split('.').next()?;
    let text = fs::read_to_string(folder().join(format!("header {header}, driver {major}"))).ok()?;
    let mut lines = text.lines().filter(|line| !line.is_empty());
    Some((lines.next()?.to_owned(), lines.count()))
}
