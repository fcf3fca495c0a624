//! One shared library for each CUDA version: copies of the one that cargo built, without the names that the version
//! lacks. So which version is simulated is decided as with real drivers, by which library is loaded.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, process, thread};

use object::elf::{FileHeader64, SHT_DYNSYM};
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, pod};

use crate::Version;

/// Why there is no library to load.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Cargo has not built it, or somewhere else.
    #[error("no {name} in {}: cargo builds it for tests and examples of packages that have `simulated-driver` among their dependencies", looked_in.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or "))]
    NotBuilt {
        /// The file's name.
        name: &'static str,
        /// The folders that were looked in.
        looked_in: Vec<PathBuf>,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is no library of ours.
    #[error("{}: {problem}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

const NAME: &str = "libsimulated_driver.so";

/// The symbol of the number that `cuDriverGetVersion` answers.
const VERSION: &str = "simulated_driver_version";

/// Followed by a version and a name: since when the library has that name.
const SINCE: &str = "simulated_driver_since_";

/// The folder below the library that cargo built, for the copies.
const COPIES: &str = "simulated-driver";

/// The library of a version, made if it is not there or not of the library that cargo built.
pub(crate) fn of(version: Version) -> Result<PathBuf, Error> {
    // Another build may be linking it just now.
    for _ in 0..20 {
        if let Ok(library) = made(version) {
            return Ok(library);
        }
        thread::sleep(Duration::from_millis(100));
    }
    made(version)
}

/// Every name that some version has, and the number of the first that does; 0 if all have it.
pub(crate) fn names() -> Result<Vec<(String, i32)>, Error> {
    // Every copy says it of all names.
    let file = of(Version::default())?;
    let bytes = fs::read(&file).map_err(|error| Error::File { file: file.clone(), error })?;
    let symbols = symbols(&bytes).map_err(|error| Error::Unusable { file, problem: error.to_string() })?;
    Ok(symbols.iter().filter_map(|symbol| since(&symbol.name)).map(|(since, name)| (name.to_owned(), since)).collect())
}

/// Where cargo puts a library that is depended on: the folder `deps` of a profile, where test programs are; examples and
/// other programs are beside that folder or in another one beside it.
fn folder() -> Result<PathBuf, Error> {
    let program = std::env::current_exe().map_err(|error| Error::File { file: "the running program".into(), error })?;
    let looked_in: Vec<PathBuf> = program.ancestors().skip(1).take(2).map(|folder| folder.join("deps")).collect();
    let found = looked_in.iter().find(|folder| folder.join(NAME).is_file() || folder.join(COPIES).is_dir());
    found.cloned().ok_or(Error::NotBuilt { name: NAME, looked_in })
}

fn made(version: Version) -> Result<PathBuf, Error> {
    let built = folder()?.join(NAME);
    let folder = built.with_file_name(COPIES).join(version.to_string());
    let library = folder.join("libcuda.so.1");
    let at = |file: &Path, error| Error::File { file: file.to_owned(), error };
    let modified = |file: &Path| fs::metadata(file).and_then(|metadata| metadata.modified());
    let time = match modified(&built) {
        // Another build makes it anew: the copy is of the build that this program comes from.
        Err(_) if library.is_file() => return Ok(library),
        time => time.map_err(|error| at(&built, error))?,
    };
    // A copy has the time of what it was made of.
    if modified(&library).is_ok_and(|of_copy| of_copy == time) {
        return Ok(library);
    }
    let mut bytes = fs::read(&built).map_err(|error| at(&built, error))?;
    let unusable = |problem| Error::Unusable { file: built.clone(), problem };
    restrict(&mut bytes, version).map_err(unusable)?;
    if !modified(&built).is_ok_and(|now| now == time) {
        return Err(unusable("it is being built anew".to_owned()));
    }
    fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
    // Several programs may do this at once; each puts a whole file in place.
    let unfinished = folder.join(format!("unfinished.{}", process::id()));
    let written = fs::write(&unfinished, bytes)
        .and_then(|()| fs::File::options().append(true).open(&unfinished)?.set_modified(time));
    written.map_err(|error| at(&unfinished, error))?;
    fs::rename(&unfinished, &library).map_err(|error| at(&library, error))?;
    Ok(library)
}

/// Makes undefined what the version lacks, so that `dlsym` does not find it, and sets the number that
/// `cuDriverGetVersion` answers.
fn restrict(bytes: &mut [u8], version: Version) -> Result<(), String> {
    let symbols = symbols(bytes).map_err(|error| error.to_string())?;
    let number = symbols.iter().find(|symbol| symbol.name == VERSION).ok_or("it does not say its version")?;
    let place = bytes.get_mut(number.value_at..number.value_at + 4).ok_or("its version is not in the file")?;
    place.copy_from_slice(&version.number().to_ne_bytes());
    let since = symbols.iter().filter_map(|symbol| since(&symbol.name));
    for (_, name) in since.filter(|(since, _)| *since > version.number()) {
        let symbol = symbols.iter().find(|symbol| symbol.name == name).ok_or_else(|| format!("it has no {name}"))?;
        let undefined = symbol.entry_at + VALUE..symbol.entry_at + VALUE + 8;
        bytes.get_mut(undefined).ok_or("its symbols are not in the file")?.fill(0);
        bytes[symbol.entry_at + SECTION..symbol.entry_at + SECTION + 2].fill(0);
    }
    Ok(())
}

/// What a symbol says of another one: since when it is there, and its name.
fn since(symbol: &str) -> Option<(i32, &str)> {
    let (since, name) = symbol.strip_prefix(SINCE)?.split_once('_')?;
    Some((since.parse().ok()?, name))
}

/// Where a symbol's entry has its value, and the section that defines it.
const VALUE: usize = 8;
const SECTION: usize = 6;

struct Symbol {
    name: String,
    /// Where in the file its entry is.
    entry_at: usize,
    /// Where in the file what it stands for is.
    value_at: usize,
}

fn symbols(bytes: &[u8]) -> object::read::Result<Vec<Symbol>> {
    let header = FileHeader64::<Endianness>::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let table = sections.symbols(endian, bytes, SHT_DYNSYM)?;
    let mut symbols = Vec::new();
    for symbol in table.iter() {
        let name = String::from_utf8_lossy(symbol.name(endian, table.strings())?).into_owned();
        let entry_at = pod::bytes_of(symbol).as_ptr().addr() - bytes.as_ptr().addr();
        let section = symbol.st_shndx(endian);
        let value_at = match sections.section(object::SectionIndex(usize::from(section.0))) {
            Ok(section) => symbol.st_value(endian) - section.sh_addr.get(endian) + section.sh_offset.get(endian),
            Err(_) => 0,
        };
        symbols.push(Symbol { name, entry_at, value_at: usize::try_from(value_at).unwrap_or_default() });
    }
    Ok(symbols)
}
