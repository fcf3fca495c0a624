//! One shared library for each CUDA version: copies of the one that cargo built, without the names that the version
//! lacks. So which version is simulated is decided as with real drivers, by which library is loaded.

use std::path::{Path, PathBuf};
use std::{fs, io, process};

use object::elf::{FileHeader64, SHT_DYNSYM};
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, pod};

use crate::exports;
use crate::version::{VERSION_SYMBOL, Version};

/// Why there is no library to load.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Cargo has not built it, or somewhere else.
    #[error("no {name} in {}: `cargo build -p simulated-driver` builds it, and so does testing a package that depends on it", looked_in.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or "))]
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

/// The library that cargo built: beside the program that asks, or a folder above.
pub(crate) fn built() -> Result<PathBuf, Error> {
    let program = std::env::current_exe().map_err(|error| Error::File { file: "the running program".into(), error })?;
    let looked_in: Vec<PathBuf> =
        program.ancestors().skip(1).take(2).flat_map(|folder| [folder.into(), folder.join("deps")]).collect();
    let found = looked_in.iter().map(|folder| folder.join(NAME)).find(|file| file.is_file());
    found.ok_or(Error::NotBuilt { name: NAME, looked_in })
}

/// The library of a version, made if it is not there or out of date.
pub(crate) fn of(version: Version) -> Result<PathBuf, Error> {
    let built = built()?;
    let folder = built.with_file_name("simulated-driver").join(version.to_string());
    let library = folder.join("libcuda.so.1");
    let at = |file: &Path, error| Error::File { file: file.to_owned(), error };
    let changed = |file: &Path| fs::metadata(file).and_then(|metadata| metadata.modified());
    let is_fresh = matches!((changed(&library), changed(&built)), (Ok(copied), Ok(built)) if copied > built);
    if !is_fresh {
        let mut bytes = fs::read(&built).map_err(|error| at(&built, error))?;
        restrict(&mut bytes, version).map_err(|problem| Error::Unusable { file: built.clone(), problem })?;
        fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
        // Several programs may do this at once; each puts a whole file in place.
        let unfinished = folder.join(format!("unfinished.{}", process::id()));
        fs::write(&unfinished, bytes).map_err(|error| at(&unfinished, error))?;
        fs::rename(&unfinished, &library).map_err(|error| at(&library, error))?;
    }
    Ok(library)
}

/// Makes undefined what the version lacks, so that `dlsym` does not find it, and sets the number that
/// `cuDriverGetVersion` answers.
fn restrict(bytes: &mut [u8], version: Version) -> Result<(), String> {
    let lacking: Vec<String> = lacking(version).collect();
    let symbols = symbols(bytes).map_err(|error| error.to_string())?;
    let number = symbols.iter().find(|symbol| symbol.name == VERSION_SYMBOL).ok_or("it does not say its version")?;
    let place = bytes.get_mut(number.value_at..number.value_at + 4).ok_or("its version is not in the file")?;
    place.copy_from_slice(&version.number().to_ne_bytes());
    for name in lacking {
        let symbol = symbols.iter().find(|symbol| symbol.name == name).ok_or_else(|| format!("it has no {name}"))?;
        let undefined = symbol.entry_at + VALUE..symbol.entry_at + VALUE + 8;
        bytes.get_mut(undefined).ok_or("its symbols are not in the file")?.fill(0);
        bytes[symbol.entry_at + SECTION..symbol.entry_at + SECTION + 2].fill(0);
    }
    Ok(())
}

/// Where a symbol's entry has its value, and the section that defines it.
const VALUE: usize = 8;
const SECTION: usize = 6;

/// The exported names that a version does not have.
fn lacking(version: Version) -> impl Iterator<Item = String> {
    let newer = exports::names().filter(move |name| name.since > version.number());
    newer.flat_map(|name| {
        let suffixed = name.suffix.map(|suffix| format!("{}{suffix}", name.name));
        std::iter::once(name.name.to_owned()).chain(suffixed)
    })
}

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
