//! `cargo xtask doctor`: what there is for building and running, what each command would use, and what is missing. It
//! needs nothing, changes nothing, and fetches nothing.

mod building;
mod driver;
mod page;
mod system;
mod uses;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};

use page::Page;

/// The driver is asked by a process of its own, which this starts: a broken one can crash or hang.
const ASK_DRIVER: &str = "--ask-driver";

/// Prints the report; failure if something has to be done before a build.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    match arguments {
        [] => {}
        [ask] if ask == ASK_DRIVER => return Ok(driver::answer()),
        _ => bail!("doctor takes no arguments"),
    }
    let mut page = Page::new(std::env::home_dir());
    system::tell(&mut page);
    page.gap();
    let building = building::tell(&mut page);
    page.gap();
    let driver = driver::tell(&mut page);
    page.gap();
    uses::tell(&mut page, &building, driver);
    let (text, is_whole) = page.close();
    print!("{text}");
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
