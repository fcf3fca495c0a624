//! The hot paths of cuda-hostfn beside those of others, in rounds in which all take turns, on one machine.
//!
//! ```text
//! hot_paths [--seconds N] [--only TEXT] [NAME=COMMAND]…
//! hot_paths --instructions BASELINE [--bless]
//! hot_paths --library
//! ```
//!
//! A contender is a program that answers each line "CALLS PATH" by the nanoseconds that a call took, or by "-" if it has
//! no such path; the first one is what the others are divided by. Without a driver, all run on the simulated one, which
//! `--library` names for those that link it. `--instructions` counts with valgrind's callgrind, where it is installed.

mod contender;
mod instructions;
mod ours;
mod paths;
mod pins;
mod referee;

use cuda_hostfn::sys::driver;
use simulated_driver_client::{self as client, Version};

/// Answers rounds instead of asking.
const SERVE: &str = "--serve";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some(SERVE) => return ours::serve(),
        Some("--library") => {
            println!("{}", client::library(Version::V13_2)?.display());
            return Ok(());
        }
        _ => {}
    }
    let is_simulated = !driver::is_available();
    let library = if is_simulated { Some(client::library(Version::V13_2)?) } else { driver::path() };
    println!("on {}", if is_simulated { "the simulated driver" } else { "the machine's driver" });
    if let Some(baseline) = take(&mut arguments, "--instructions") {
        return instructions::count(baseline.as_ref(), arguments == ["--bless"], library.as_deref());
    }

    let seconds = take(&mut arguments, "--seconds").map_or(Ok(120.0), |seconds| seconds.parse())?;
    let only = take(&mut arguments, "--only").unwrap_or_default();
    let mut commands = Vec::new();
    for argument in &arguments {
        let (name, command) = argument.split_once('=').ok_or_else(|| format!("{argument} is not NAME=COMMAND"))?;
        commands.push((name, command.split(' ').map(str::to_owned).collect()));
    }
    let this =
        std::env::current_exe()?.into_os_string().into_string().map_err(|_| "the program's path is not UTF-8")?;
    commands.push(("cuda-hostfn", vec![this, SERVE.to_owned()]));

    referee::measure(&commands, seconds, &only, library.as_deref())
}

/// The value of an option.
fn take(arguments: &mut Vec<String>, option: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == option)?;
    arguments.drain(at..arguments.len().min(at + 2)).nth(1)
}
