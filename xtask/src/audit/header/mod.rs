//! What one `cuda.h` says about launch attributes.

mod bindings;
mod c_type;
mod value;

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::find::{self, OLDEST, Version};
use crate::model::{Aliased, Attribute, Header, Mention, PREFIX};
use crate::prose::{self, Prose};
use bindings::{Bindings, Enumerator};

/// A folder whose `cuda.h` has attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    pub dir: PathBuf,
    pub version: Version,
}

impl Include {
    pub fn new(dir: &Path) -> Result<Self, Error> {
        match find::read_version(dir) {
            Ok(version) if version < OLDEST => Err(Error::NoAttributes(version)),
            Ok(version) => Ok(Self { dir: dir.to_owned(), version }),
            Err(why) => Err(Error::Headers { include: dir.to_owned(), why }),
        }
    }
}

/// Reads a header. libclang must be loaded.
pub fn read(include: &Include, clang_args: &[String]) -> Result<Header, Error> {
    let bindings = bindings::read(&include.dir, clang_args)?;
    let mut attributes: Vec<_> =
        bindings.attributes.iter().map(|enumerator| attribute(enumerator, &bindings)).collect();
    attributes.sort_by_key(|attribute| attribute.id);
    Ok(Header { cuda: include.version, include: include.dir.clone(), attributes })
}

fn attribute(enumerator: &Enumerator, bindings: &Bindings) -> Attribute {
    let (documented, unreadable) = match prose::places(&enumerator.comment) {
        Prose::Silent => (None, None),
        Prose::Valid(places) => (Some(places), None),
        Prose::Unreadable(sentence) => (None, Some(sentence)),
    };
    let aliases: Vec<String> = bindings
        .aliases
        .iter()
        .filter(|(_, target)| **target == enumerator.name)
        .map(|(alias, _)| alias.clone())
        .collect();
    let has = |prefix: &str| aliases.iter().any(|alias| alias.starts_with(prefix));
    let aliased = Aliased { stream: has(STREAM_ALIAS), node: has(NODE_ALIAS) };
    Attribute {
        id: enumerator.value,
        name: enumerator.name.clone(),
        first_seen: None,
        documented,
        unreadable,
        aliased,
        aliases,
        value: value::of(enumerator, &bindings.members),
        named_by: mentions(&enumerator.name, bindings),
    }
}

fn mentions(name: &str, bindings: &Bindings) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    for function in &bindings.functions {
        for named in prose::named(&function.comment).into_iter().filter(|named| named.attribute == name) {
            let see = named.see.map(str::to_owned);
            mentions.push(Mention { function: function.name.clone(), within: named.within, see });
        }
    }
    // One for each function and kind of text; the one that sends readers elsewhere says more.
    mentions.sort_by(|a, b| (&a.function, a.within, &b.see).cmp(&(&b.function, b.within, &a.see)));
    mentions.dedup_by(|a, b| (&a.function, a.within) == (&b.function, b.within));
    mentions
}

const STREAM_ALIAS: &str = "CU_STREAM_ATTRIBUTE_";
const NODE_ALIAS: &str = "CU_KERNEL_NODE_ATTRIBUTE_";

/// `MAX` counts the attributes and is none; NVIDIA's own builds have it.
fn is_attribute(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|name| name != "MAX")
}
