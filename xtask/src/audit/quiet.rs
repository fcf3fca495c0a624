//! Silence on standard error: libclang prints each diagnostic by itself, before anybody can put it into words.

/// Standard error goes nowhere while this lives.
#[derive(Debug)]
pub struct Quiet {
    #[cfg(unix)]
    stderr: Option<std::os::fd::OwnedFd>,
}

#[cfg(unix)]
impl Quiet {
    /// Silence, or no change where that is not possible.
    pub fn new() -> Self {
        Self { stderr: silence().ok() }
    }
}

/// What standard error was.
#[cfg(unix)]
fn silence() -> std::io::Result<std::os::fd::OwnedFd> {
    let null = std::fs::File::options().write(true).open("/dev/null")?;
    let stderr = rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), 0)?;
    rustix::stdio::dup2_stderr(null)?;
    Ok(stderr)
}

#[cfg(unix)]
impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(stderr) = self.stderr.take() {
            // Nobody could be told.
            let _ = rustix::stdio::dup2_stderr(stderr);
        }
    }
}

#[cfg(not(unix))]
impl Quiet {
    pub fn new() -> Self {
        Self {}
    }
}
