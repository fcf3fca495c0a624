//! Values as data: their bytes, and their words.

use std::fmt::Write as _;

use super::super::cuda;
use super::super::limits::{Limit, Limits};

/// A value of an attribute, by the shape that its member has.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Value {
    /// An integer or enumerator.
    Int(Number),
    /// Blocks in each dimension.
    Dimensions([Number; 3]),
    /// The physical domains of the logical domains default and remote.
    Domains([Number; 2]),
    /// Begins so many bytes into the memory given along, or at this address without any.
    Window { offset: u64, size: Number, hit_ratio: f32, hit: u32, miss: u32 },
    /// An event made with these flags, unless there is none; flags for recording it; and what triggers it.
    Event { created: Option<u32>, recorded: u32, trigger: Option<u32> },
    /// Whether the device may update the node, and the handle that it has there.
    UpdatableNode { updatable: i32, node: u64 },
}

/// A number, or how far it is from a limit of the device.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Number {
    Is(i64),
    At(Limit, i64),
}

impl Number {
    fn resolve(self, limits: &Limits) -> i64 {
        match self {
            Self::Is(number) => number,
            Self::At(limit, distance) => limits.get(limit) + distance,
        }
    }

    /// The low bytes, as C converts.
    fn bytes<const N: usize>(self, limits: &Limits) -> [u8; N] {
        let all = self.resolve(limits).to_le_bytes();
        std::array::from_fn(|index| all[index])
    }
}

impl Value {
    /// `address` is that of the event or the memory that was made for this value, or 0.
    pub(in super::super) fn encode(&self, limits: &Limits, address: u64) -> cuda::Value {
        let mut bytes = Bytes([0; cuda::SIZE], 0);
        match *self {
            Self::Int(number) => bytes.put(number.bytes::<4>(limits)),
            Self::Dimensions(dimensions) => dimensions.iter().for_each(|number| bytes.put(number.bytes::<4>(limits))),
            Self::Domains(domains) => domains.iter().for_each(|number| bytes.put(number.bytes::<1>(limits))),
            Self::Window { offset, size, hit_ratio, hit, miss } => {
                bytes.put((address + offset).to_le_bytes());
                bytes.put(size.bytes::<8>(limits));
                bytes.put(hit_ratio.to_le_bytes());
                bytes.put(hit.to_le_bytes());
                bytes.put(miss.to_le_bytes());
            }
            Self::Event { recorded, trigger, .. } => {
                bytes.put(address.to_le_bytes());
                bytes.put(recorded.to_le_bytes());
                bytes.put(trigger.unwrap_or(0).to_le_bytes());
            }
            Self::UpdatableNode { updatable, node } => {
                bytes.put(updatable.to_le_bytes());
                bytes.put([0; 4]);
                bytes.put(node.to_le_bytes());
            }
        }
        bytes.0
    }

    /// Where the value has an address or a handle.
    pub(in super::super) fn address_at(&self) -> Option<usize> {
        match self {
            Self::Window { .. } | Self::Event { .. } => Some(0),
            Self::UpdatableNode { .. } => Some(8),
            Self::Int(_) | Self::Dimensions(_) | Self::Domains(_) => None,
        }
    }

    pub(super) fn words(&self, limits: &Limits) -> String {
        let number = |number: Number| number.resolve(limits).to_string();
        match *self {
            Self::Int(value) => number(value),
            Self::Dimensions(dimensions) => dimensions.map(number).join(" × "),
            Self::Domains([default, remote]) => format!("default {}, remote {}", number(default), number(remote)),
            Self::Window { offset, size, hit_ratio, hit, miss } => {
                let mut words = format!("{} bytes", number(size));
                if offset > 0 {
                    let _ = write!(words, " from {offset:#x}");
                }
                let _ = write!(words, ", hit ratio {hit_ratio}, hit {}, miss {}", property(hit), property(miss));
                words
            }
            Self::Event { created: None, .. } => "no event".to_owned(),
            Self::Event { created: Some(flags), recorded, trigger } => {
                let mut words = "event".to_owned();
                if flags != 0 {
                    let _ = write!(words, " with flags {flags}");
                }
                if recorded != 0 {
                    let _ = write!(words, ", recorded with flags {recorded}");
                }
                if let Some(trigger) = trigger {
                    let _ = write!(words, ", trigger at block start {trigger}");
                }
                words
            }
            Self::UpdatableNode { updatable, node: 0 } => updatable.to_string(),
            Self::UpdatableNode { updatable, node } => format!("{updatable}, node {node:#x}"),
        }
    }
}

fn property(value: u32) -> String {
    match value {
        0 => "normal".to_owned(),
        1 => "streaming".to_owned(),
        2 => "persisting".to_owned(),
        other => other.to_string(),
    }
}

/// Bytes, and how many are taken.
struct Bytes(cuda::Value, usize);

impl Bytes {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0[self.1..][..N].copy_from_slice(&bytes);
        self.1 += N;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::bytes::hex;

    const LIMITS: Limits = Limits {
        least_priority: 0,
        greatest_priority: -5,
        access_window: 0x0800_0000,
        memory_domains: 4,
        portable_cluster: 8,
        largest_cluster: 16,
    };

    #[track_caller]
    fn is(value: Value, expected_hex: &str, expected_words: &str) {
        assert_eq!(hex(&value.encode(&LIMITS, 0x7faa_4a00_0000)), expected_hex);
        assert_eq!(value.words(&LIMITS), expected_words);
    }

    #[test]
    fn bytes_and_words() {
        is(Value::Int(Number::Is(-1)), "ffffffff", "-1");
        is(Value::Int(Number::At(Limit::GreatestPriority, -1)), "faffffff", "-6");
        is(
            Value::Dimensions([Number::At(Limit::PortableCluster, 0), Number::Is(1), Number::Is(1 << 31)]),
            "080000000100000000000080",
            "8 × 1 × 2147483648",
        );
        is(Value::Domains([Number::Is(1), Number::At(Limit::MemoryDomains, -1)]), "0103", "default 1, remote 3");
        is(
            Value::Window { offset: 3, size: Number::At(Limit::AccessWindow, 0), hit_ratio: 0.6, hit: 2, miss: 1 },
            "0300004aaa7f000000000008000000009a99193f0200000001",
            "134217728 bytes from 0x3, hit ratio 0.6, hit persisting, miss streaming",
        );
        is(
            Value::Event { created: Some(1), recorded: 1, trigger: Some(1) },
            "0000004aaa7f00000100000001",
            "event with flags 1, recorded with flags 1, trigger at block start 1",
        );
        is(Value::UpdatableNode { updatable: 1, node: 0x1234 }, "01000000000000003412", "1, node 0x1234");
    }

    #[test]
    fn the_address_is_where_it_is_said_to_be() {
        let address = 0x7faa_4a00_0010_u64;
        for value in [
            Value::Window { offset: 0, size: Number::Is(1), hit_ratio: 1.0, hit: 1, miss: 1 },
            Value::Event { created: Some(0), recorded: 1, trigger: Some(1) },
        ] {
            let at = value.address_at().unwrap();
            assert_eq!(value.encode(&LIMITS, address)[at..at + 8], address.to_le_bytes());
        }
    }
}
