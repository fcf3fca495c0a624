//! `Version`, as people write it and as JSON has it.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::find::Version;

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| part.parse::<u32>().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
        text.split_once('.')
            .and_then(|(major, minor)| Some((number(major)?, number(minor)?)))
            .filter(|&(major, minor)| major < 1000 && minor < 100)
            .map(|(major, minor)| Self(major * 1000 + minor * 10))
            .ok_or_else(|| format!("`{text}` is no CUDA version; write it as 13.0"))
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_written_alike() {
        for text in ["11.8", "12.0", "13.5", "14.12"] {
            assert_eq!(text.parse::<Version>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "13", "13.", ".5", "13.5.1", "+13.5", "13.-5", "v13.5", "99999999999.1", "4294968.0", "1.4294967"]
        {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }
}
