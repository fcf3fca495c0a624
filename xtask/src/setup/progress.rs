//! What the user sees meanwhile, on stderr: a bar for each archive on a terminal, plain lines otherwise.

use std::fmt::Display;
use std::io::IsTerminal;

use indicatif::{DecimalBytes, MultiProgress, ProgressBar, ProgressStyle};

/// All that is going on.
#[derive(Debug)]
pub(super) struct Progress {
    bars: Option<MultiProgress>,
}

/// One archive.
#[derive(Debug)]
pub(super) struct Task<'a> {
    progress: &'a Progress,
    name: String,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { bars: std::io::stderr().is_terminal().then(MultiProgress::new) }
    }

    /// Shows a line above the bars.
    pub(super) fn say(&self, line: impl Display) {
        match &self.bars {
            // `suspend` and not `println`, which shows nothing on a terminal that cannot move its cursor.
            Some(bars) => bars.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
    }

    pub(super) fn begin(&self, name: String, size: u64) -> Task<'_> {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new(size));
            let style = ProgressStyle::with_template(
                "{prefix:18} [{bar:20}] {decimal_bytes:>9}/{decimal_total_bytes:<9} {msg}",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.set_prefix(name.clone());
            bar
        });
        Task { progress: self, name, bar }
    }
}

impl Task<'_> {
    /// So many bytes are there.
    pub(super) fn reached(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes.min(bar.length().unwrap_or(bytes)));
        }
    }

    pub(super) fn downloading(&self, size: u64) {
        match &self.bar {
            Some(bar) => bar.set_message("downloading"),
            None => self.say(format_args!("downloading {}", DecimalBytes(size))),
        }
    }

    /// Too short for a line of its own in a plain log.
    pub(super) fn unpacking(&self) {
        if let Some(bar) = &self.bar {
            bar.set_position(bar.length().unwrap_or_default());
            bar.set_message("unpacking");
        }
    }

    pub(super) fn say(&self, line: impl Display) {
        self.progress.say(format_args!("{}: {line}", self.name));
    }

    /// Replaces the bar by a line.
    pub(super) fn end(self, line: impl Display) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.say(line);
    }
}
