//! Which processors the contenders run on.

use std::{fmt, fs, io, mem};

use crate::Failure;

/// The thread that calls has a processor, and the driver's threads have another one: the same two for all contenders.
pub struct Pins {
    allowed: Vec<usize>,
    caller: usize,
    driver: usize,
}

impl Pins {
    /// Of the processors that this program may use, the last two that are not two halves of one.
    pub fn new() -> Result<Self, Failure> {
        let allowed = allowed()?;
        let (&driver, others) = allowed.split_last().ok_or("no processor")?;
        let is_apart = |other: &&usize| siblings(driver).is_none_or(|of| Some(of) != siblings(**other));
        let caller = others.iter().rev().find(is_apart).or(others.last()).copied().unwrap_or(driver);
        Ok(Self { allowed, caller, driver })
    }

    /// Puts the threads that the process has where they belong; anywhere, if it `is_spread` over many.
    pub fn apply(&self, process: u32, is_spread: bool) -> Result<(), Failure> {
        for thread in fs::read_dir(format!("/proc/{process}/task"))? {
            let name = thread?.file_name();
            let thread: u32 = name.to_str().ok_or("a number")?.parse()?;
            let own = [if thread == process { self.caller } else { self.driver }];
            pin(thread, if is_spread { &self.allowed } else { &own })?;
        }
        Ok(())
    }
}

impl fmt::Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allowed, caller, driver } = self;
        write!(f, "{} processors; calls on {caller}, the driver's threads on {driver}", allowed.len())
    }
}

/// What says whether two processors are halves of one.
fn siblings(processor: usize) -> Option<String> {
    fs::read_to_string(format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")).ok()
}

fn allowed() -> io::Result<Vec<usize>> {
    // SAFETY: a set of bits.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the set is valid for writes, and of that size.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let size = 8 * size_of_val(&set);
    // SAFETY: below the size.
    Ok((0..size).filter(|&processor| unsafe { libc::CPU_ISSET(processor, &set) }).collect())
}

fn pin(thread: u32, processors: &[usize]) -> io::Result<()> {
    // SAFETY: a set of bits.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    for &processor in processors {
        // SAFETY: one of the set that the system gave.
        unsafe { libc::CPU_SET(processor, &mut set) };
    }
    // SAFETY: the set is valid, and of that size.
    let code = unsafe { libc::sched_setaffinity(thread.cast_signed(), size_of_val(&set), &raw const set) };
    match io::Error::last_os_error() {
        _ if code == 0 => Ok(()),
        // It has ended.
        error if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        error => Err(error),
    }
}
