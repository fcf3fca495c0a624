//! Where the report goes.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use crate::error::Error;
use crate::format::Screen;

/// What fits where nobody can tell the width.
const WIDTH: u16 = 100;
/// Narrower than this no table can be read.
const NARROWEST: u16 = 80;

/// How wide and colourful the destination is.
pub fn screen(to_file: bool) -> Screen {
    let terminal = !to_file && io::stdout().is_terminal();
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = comfy_table::Table::new().width().filter(|_| terminal).unwrap_or(WIDTH);
    Screen { width: width.max(NARROWEST), colour: terminal && !is_set("NO_COLOR") && !dumb }
}

/// Writes a file whole or not at all, or to the terminal.
pub fn write(text: &str, file: Option<&Path>) -> Result<(), Error> {
    match file {
        Some(file) => write_file(text, file).map_err(|why| Error::Output { file: file.to_owned(), why }),
        None => match io::stdout().lock().write_all(text.as_bytes()) {
            // Whoever reads has read enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(Error::Stdout),
        },
    }
}

fn write_file(text: &str, file: &Path) -> io::Result<()> {
    // A device or a pipe is written to, not replaced; a link is followed.
    let file = match file.canonicalize() {
        Ok(existing) if !existing.is_file() => return fs::write(existing, text),
        Ok(existing) => existing,
        Err(_) => file.to_owned(),
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(io::Error::new(ErrorKind::NotFound, format!("there is no folder `{}`", folder.display())));
    }
    let mut new = beside(&file).tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.persist(file)?;
    Ok(())
}

/// A temporary file that gets the permissions of a file made in the ordinary way.
fn beside(file: &Path) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let permissions = fs::metadata(file).map_or(fs::Permissions::from_mode(0o666), |old| old.permissions());
        builder.permissions(permissions);
    }
    builder
}
