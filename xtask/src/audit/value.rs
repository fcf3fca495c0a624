//! The bytes of a sample, and what became of them.

use crate::observations::{Answer, Sample};

/// A byte as a record has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    Is(u8),
    /// Of the address that was given.
    Given,
    /// Of an address that the driver made.
    Made,
    Unwritten,
}

/// The bytes of a text such as `01@@##..`; none if it is another text.
fn bytes(text: &str) -> Option<Vec<Byte>> {
    let byte = |pair: &[u8]| match pair {
        b"@@" => Some(Byte::Given),
        b"##" => Some(Byte::Made),
        b".." => Some(Byte::Unwritten),
        [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok().map(Byte::Is)
        }
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

/// At most the 64 bytes that a value has.
pub fn is_valid(text: &str) -> bool {
    bytes(text).is_some_and(|bytes| bytes.len() <= 64)
}

/// Whether reading gave other bytes than were set. Zeros at the end may be left out, and a byte that the driver did not
/// write says nothing.
pub fn is_changed(sample: &Sample) -> bool {
    let Some(read) = sample.read_back.as_deref().and_then(bytes) else { return false };
    let set = bytes(&sample.set).unwrap_or_default();
    read.iter().enumerate().any(|(at, read)| match read {
        Byte::Unwritten => false,
        read => *read != set.get(at).copied().unwrap_or(Byte::Is(0)),
    })
}

/// The value, and what was given along with it.
pub fn given(sample: &Sample) -> String {
    match &sample.prerequisite {
        Some(prerequisite) => format!("{} with {prerequisite}", sample.value),
        None => sample.value.clone(),
    }
}

/// What the driver made of it, in words.
pub fn outcome(sample: &Sample) -> String {
    match (sample.answer, &sample.read_back) {
        (Answer::Accepted, Some(read)) if is_changed(sample) => format!("accepted, reads back as {}", number(read)),
        (Answer::Accepted, Some(_)) => "accepted, reads back as it was set".to_owned(),
        (Answer::Accepted, None) => "accepted".to_owned(),
        _ => sample.status.clone(),
    }
}

/// Up to four bytes as the signed number that they are on CUDA's machines, more as they are.
pub fn number(text: &str) -> String {
    let significant = significant(text);
    let mut number = [0; 4];
    match bytes(significant) {
        Some(bytes) if bytes.len() <= number.len() => {
            for (byte, known) in number.iter_mut().zip(bytes) {
                match known {
                    Byte::Is(known) => *byte = known,
                    _ => return words(significant),
                }
            }
            i32::from_le_bytes(number).to_string()
        }
        _ => words(significant),
    }
}

/// Four bytes each.
fn words(text: &str) -> String {
    let words: Vec<_> = text.as_bytes().chunks(8).map(String::from_utf8_lossy).collect();
    words.join(" ")
}

/// Without the zero bytes at the end.
fn significant(text: &str) -> &str {
    let mut significant = text;
    while let Some(shorter) = significant.strip_suffix("00").filter(|shorter| shorter.len() % 2 == 0) {
        significant = shorter;
    }
    significant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::sample;
    use crate::observations::Range;

    #[test]
    fn small_values_are_numbers() {
        for (bytes, expected) in [
            ("", "0"),
            ("00", "0"),
            ("05", "5"),
            ("fbffffff", "-5"),
            ("0001", "256"),
            ("0000000001", "00000000 01"),
            ("01..", "01.."),
        ] {
            assert_eq!(number(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn zeros_at_the_end_are_no_change() {
        for (set, read, changed) in
            [("01", "01000000", false), ("", "00", false), ("10", "1000", false), ("10", "01", true)]
        {
            assert_eq!(is_changed(&sample(Range::Good, set, Some(read))), changed, "{set} {read}");
        }
        assert!(!is_changed(&sample(Range::Good, "01", None)));
    }

    #[test]
    fn addresses_and_gaps_are_compared_as_such() {
        for (set, read, changed) in
            [("@@01", "@@01", false), ("@@01", "##01", true), ("01", "01....00", false), ("01", "01..##", true)]
        {
            assert_eq!(is_changed(&sample(Range::Good, set, Some(read))), changed, "{set} {read}");
        }
    }

    #[test]
    fn only_bytes_are_bytes() {
        for text in ["", "0aFF", "@@##..00"] {
            assert!(is_valid(text), "{text}");
        }
        for text in ["0", "0g", "@#", "+1", "é", &"00".repeat(65)] {
            assert!(!is_valid(text), "{text}");
        }
    }
}
