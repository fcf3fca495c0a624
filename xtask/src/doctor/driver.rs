//! The driver and its devices, as a process of its own finds them.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use super::ASK_DRIVER;
use super::page::Page;
use crate::driver::ask::{self, Answer};
use crate::driver::{DEVICE_FILES, OVERRIDE};
use crate::find::Version;

/// A machine with many GPUs takes seconds to start its driver.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the asking process's exit status says.
const NO_DEVICE: u8 = 1;
const NO_DRIVER: u8 = 2;

/// How far a program would get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    HasDevice,
    HasNone,
    Missing,
}

/// In the process of its own: asks, prints the rows, and says in its status how far it got.
pub(super) fn answer() -> ExitCode {
    match ask::ask() {
        Ok(Answer { library, cuda, devices }) => {
            let library = library.map_or_else(|| "a file unknown".to_owned(), |file| file.display().to_string());
            println!("CUDA {}: {library}", Version(cuda.unsigned_abs()));
            match devices {
                Ok(devices) => devices.iter().for_each(|device| println!("{device}")),
                Err(why) => {
                    println!("no device: {why}");
                    return NO_DEVICE.into();
                }
            }
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("none: {why}");
            NO_DRIVER.into()
        }
    }
}

pub(super) fn tell(page: &mut Page) -> Driver {
    let (text, driver) = asked();
    page.row("driver", text);
    if let Ok(module) = fs::read_to_string("/proc/driver/nvidia/version") {
        page.row("kernel module", module.lines().next().unwrap_or_default());
    }
    let files: Vec<_> = DEVICE_FILES.into_iter().filter(|file| Path::new(file).exists()).collect();
    if files.is_empty() && cfg!(unix) {
        page.row("device files", format!("none of {}: no GPU is visible here", DEVICE_FILES.join(", ")));
    } else if !files.is_empty() {
        page.row("device files", files.join(", "));
    }
    driver
}

fn asked() -> (String, Driver) {
    let gone = |why: String| (format!("could not be asked: {why}"), Driver::Missing);
    let Ok(program) = std::env::current_exe() else { return gone("this program's own path is unknown".to_owned()) };
    let mut ask = Command::new(program);
    ask.args(["doctor", ASK_DRIVER]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = match ask.spawn() {
        Ok(child) => child,
        Err(error) => return gone(error.to_string()),
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return gone(format!("no answer in {} s; see the kernel's log (dmesg)", PATIENCE.as_secs()));
            }
        }
    }
    let Ok(output) = child.wait_with_output() else { return gone("its answer is lost".to_owned()) };
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    let code = output.status.code().and_then(|code| u8::try_from(code).ok());
    match code {
        Some(0) => (text, Driver::HasDevice),
        Some(NO_DEVICE) => (text, Driver::HasNone),
        Some(NO_DRIVER) => (text, Driver::Missing),
        _ => gone(format!("it ended the process that asked ({}); {OVERRIDE} names another library", output.status)),
    }
}
