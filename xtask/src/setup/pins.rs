//! `pins.toml`: what can be provisioned, each with its version, size and checksum.

use anyhow::{Context, Result, bail};
use toml::de::{DeTable, DeValue};

use crate::find::{OLDEST, Version};

/// One archive, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pin {
    pub(crate) what: What,
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) file: String,
    /// The folder or file inside the archive that is kept.
    pub(crate) take: String,
    pub(crate) sha256: String,
    pub(crate) size: u64,
}

/// What an archive provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Headers(Version),
    /// For a target, as `architecture-system` of `std::env::consts`.
    Libclang {
        target: String,
    },
    Driver {
        arch: String,
        version: String,
        /// What its `cuDriverGetVersion` answers.
        cuda: Version,
        /// The Debian release that carries it.
        suite: String,
    },
}

impl Pin {
    /// What a person calls it.
    pub(crate) fn name(&self) -> String {
        match &self.what {
            What::Headers(version) => format!("CUDA {version} headers"),
            What::Libclang { .. } => format!("libclang {}", self.version),
            What::Driver { version, .. } => format!("driver {version}"),
        }
    }

    /// Its folder below `.cuda`.
    pub(crate) fn place(&self) -> String {
        match &self.what {
            What::Headers(version) => format!("headers/{version}"),
            What::Libclang { .. } => "libclang".into(),
            What::Driver { version, .. } => format!("drivers/{version}"),
        }
    }

    /// What `take` is called in that folder.
    pub(crate) fn keep(&self) -> &str {
        match &self.what {
            What::Headers(_) => "include",
            What::Libclang { .. } => self.take.rsplit('/').next().unwrap_or(&self.take),
            What::Driver { .. } => "libcuda.so.1",
        }
    }
}

/// The whole file, in its order.
#[derive(Debug)]
pub(crate) struct Pins(pub(crate) Vec<Pin>);

impl Pins {
    /// The pins that this program was built with.
    pub(crate) fn load() -> Result<Self> {
        Self::parse(include_str!("../../pins.toml")).context("pins.toml")
    }

    fn parse(text: &str) -> Result<Self> {
        let tables = DeTable::parse(text)?.into_inner();
        let mut pins = Vec::new();
        for (section, rows) in &tables {
            for row in rows.get_ref().as_array().context("expected [[sections]]")? {
                let row = Row(row.get_ref());
                pins.push(
                    row.pin(section.get_ref()).with_context(|| format!("[[{}]] {}", section.get_ref(), row.label()))?,
                );
            }
        }
        Ok(Self(pins))
    }

    /// The header versions, the oldest first.
    pub(crate) fn versions(&self) -> Vec<Version> {
        let mut versions: Vec<_> = self
            .0
            .iter()
            .filter_map(|pin| match pin.what {
                What::Headers(version) => Some(version),
                _ => None,
            })
            .collect();
        versions.sort_unstable();
        versions
    }

    pub(crate) fn headers(&self, wanted: Version) -> Result<&Pin> {
        self.0.iter().find(|pin| pin.what == What::Headers(wanted)).with_context(|| {
            let known: Vec<_> =
                self.versions().iter().filter(|version| **version >= OLDEST).map(Version::to_string).collect();
            format!(
                "there is no package of CUDA {wanted} headers among the pinned ones ({}); for another, install that \
                 toolkit and name its folder (CUDA_SYS_INCLUDE_DIR=DIR, or `cargo xtask audit --headers DIR`)",
                known.join(", ")
            )
        })
    }

    pub(crate) fn libclang(&self, wanted: &str) -> Option<&Pin> {
        self.0.iter().find(|pin| matches!(&pin.what, What::Libclang { target } if target == wanted))
    }

    pub(crate) fn drivers(&self, wanted: &str) -> Vec<&Pin> {
        self.0.iter().filter(|pin| matches!(&pin.what, What::Driver { arch, .. } if arch == wanted)).collect()
    }
}

/// `X.Y`, as in `--cuda X.Y`.
pub(crate) fn parse_version(text: &str) -> Result<Version> {
    let number = |part: &str| (part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u32>().ok())?;
    text.split_once('.')
        .and_then(|(major, minor)| Some((number(major)?, number(minor)?)))
        .filter(|&(major, minor)| (1..1000).contains(&major) && minor < 100)
        .map(|(major, minor)| Version(1000 * major + 10 * minor))
        .with_context(|| format!("`{text}` is no CUDA version; expected X.Y, such as 13.0"))
}

struct Row<'a>(&'a DeValue<'a>);

impl Row<'_> {
    fn text(&self, key: &str) -> Result<String> {
        let value = self.0.get(key).with_context(|| format!("no `{key}`"))?;
        Ok(value.get_ref().as_str().with_context(|| format!("`{key}` is no string"))?.to_owned())
    }

    fn label(&self) -> String {
        self.text("file").unwrap_or_default()
    }

    fn pin(&self, section: &str) -> Result<Pin> {
        let what = match section {
            "headers" => What::Headers(parse_version(&self.text("cuda")?)?),
            "libclang" => What::Libclang { target: self.text("target")? },
            "drivers" => What::Driver {
                arch: self.text("arch")?,
                version: self.text("driver")?,
                cuda: parse_version(&self.text("cuda")?)?,
                suite: self.text("suite")?,
            },
            _ => bail!("unknown section"),
        };
        let size = self.0.get("size").and_then(|size| size.get_ref().as_integer()?.as_str().parse().ok());
        Ok(Pin {
            what,
            package: self.text("package")?,
            version: self.text("version")?,
            file: self.text("file")?,
            take: self.text("take")?,
            sha256: self.text("sha256")?,
            size: size.context("no `size`")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_minor_version_is_pinned_once() {
        let versions = Pins::load().unwrap().versions();
        let expected: Vec<_> = [117, 118, 120, 121, 122, 123, 124, 125, 126, 128, 129, 130, 131, 132, 133, 134, 135]
            .map(|n| Version(n / 10 * 1000 + n % 10 * 10))
            .into();
        assert_eq!(versions, expected);
    }

    #[test]
    fn rows_agree_with_themselves() {
        let pins = Pins::load().unwrap().0;
        for pin in &pins {
            let stem = pin.package.replace('-', "_");
            assert!(pin.file.starts_with(&stem) && pin.file.contains(&pin.version), "{pin:?}");
            assert!(pin.sha256.len() == 64 && pin.sha256.bytes().all(|b| b"0123456789abcdef".contains(&b)), "{pin:?}");
            assert!(pin.size > 500_000, "{pin:?}");
            match &pin.what {
                What::Headers(version) => {
                    assert!(pin.version.starts_with(&format!("{version}.")), "{pin:?}");
                    assert!(pin.file.ends_with(".whl") && pin.take.ends_with("/include"), "{pin:?}");
                }
                What::Libclang { target } => {
                    assert!(pin.take.ends_with(if target.ends_with("windows") { ".dll" } else { ".so" }), "{pin:?}");
                }
                What::Driver { version, .. } => {
                    assert!(pin.file.ends_with(".deb") && pin.take.ends_with(version), "{pin:?}");
                }
            }
        }
        assert_eq!(pins.iter().map(|pin| &pin.sha256).collect::<HashSet<_>>().len(), pins.len());
    }

    #[test]
    fn linux_has_libclang_and_the_three_drivers() {
        let pins = Pins::load().unwrap();
        assert!(["x86_64-linux", "aarch64-linux"].iter().all(|target| pins.libclang(target).is_some()));
        let drivers: Vec<_> = pins.drivers("x86_64").iter().map(|pin| pin.version.split('.').next().unwrap()).collect();
        assert_eq!(drivers, ["470", "535", "550"]);
    }

    #[test]
    fn a_faulty_row_is_named() {
        let error = |text| format!("{:#}", Pins::parse(text).unwrap_err());
        assert!(
            error("[[headers]]\ncuda = \"13\"\nfile = \"a.whl\"")
                .contains("[[headers]] a.whl: `13` is no CUDA version")
        );
        assert!(error("[[libclang]]\ntarget = \"t\"\nfile = \"b\"").contains("[[libclang]] b: no `package`"));
        assert!(error("[[toys]]").contains("unknown section"));
    }

    #[test]
    fn versions_are_read_strictly() {
        assert_eq!(parse_version("12.0").unwrap(), Version(12000));
        assert_eq!(parse_version("11.8").unwrap().to_string(), "11.8");
        for wrong in ["", "12", "12.", ".1", "12.x", "+12.1", "12.1.3", "v12.1", "99999999999.1", "12.100"] {
            assert!(parse_version(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_version_is_answered_with_the_known_ones() {
        let error = Pins::load().unwrap().headers(Version(99000)).unwrap_err().to_string();
        assert!(error.contains("99.0") && error.contains("11.8, 12.0") && error.contains("--headers"), "{error}");
    }
}
