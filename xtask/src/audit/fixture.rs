//! Headers for unit tests.

use std::path::PathBuf;

use crate::model::{Aliased, Attribute, Header, PREFIX, Places};

pub fn header(cuda: &str, attributes: Vec<Attribute>) -> Header {
    Header { cuda: cuda.parse().unwrap(), include: PathBuf::new(), attributes }
}

/// An attribute with aliases for `s`treams and `n`odes.
pub fn attribute(id: u32, documented: Option<Places>, aliased: &str) -> Attribute {
    Attribute {
        id,
        name: format!("{PREFIX}NUMBER_{id}"),
        first_seen: None,
        documented,
        unreadable: None,
        aliased: Aliased { stream: aliased.contains('s'), node: aliased.contains('n') },
        aliases: Vec::new(),
        value: None,
        named_by: Vec::new(),
    }
}

/// `s`treams, `n`odes, `l`aunches.
pub fn places(letters: &str) -> Places {
    Places { stream: letters.contains('s'), node: letters.contains('n'), launch: letters.contains('l') }
}
