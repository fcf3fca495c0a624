//! Bytes as a record shows them: see `set` and `read_back` in `observations.rs`.

use super::cuda::Value;

const UNWRITTEN: &str = "..";
const GIVEN_ADDRESS: &str = "@@";
const OTHER_ADDRESS: &str = "##";

/// Eight bytes of a value that differ from run to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) at: usize,
    /// What stands there in the value that is set.
    pub(super) given: u64,
    /// Whether that was made in this run; if not, it is the sample's own number and the same in every run.
    pub(super) made: bool,
}

/// The bytes of a value, without the zeros at its end.
pub(super) fn set(value: &Value, address: Option<Address>) -> String {
    let end = value.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let bytes: Vec<Option<u8>> = value.iter().copied().map(Some).collect();
    let end = address.filter(|address| address.made).map_or(end, |address| end.max(address.at + 8));
    show(&bytes[..end], address)
}

/// The bytes that the driver wrote.
pub(super) fn read(written: &[Option<u8>], address: Option<Address>) -> String {
    show(written, address)
}

#[cfg(test)]
pub(super) fn hex(value: &Value) -> String {
    set(value, None)
}

fn show(bytes: &[Option<u8>], address: Option<Address>) -> String {
    let masked = address.and_then(|address| {
        let field: Option<Vec<u8>> = bytes.get(address.at..address.at + 8)?.iter().copied().collect();
        let found = u64::from_le_bytes(field?.try_into().ok()?);
        match found {
            0 => None,
            _ if address.given != found => Some((address.at, OTHER_ADDRESS)),
            _ => address.made.then_some((address.at, GIVEN_ADDRESS)),
        }
    });
    let show = |(index, byte): (usize, &Option<u8>)| match (masked, byte) {
        (Some((at, mark)), _) if (at..at + 8).contains(&index) => mark.to_owned(),
        (_, Some(byte)) => format!("{byte:02x}"),
        (_, None) => UNWRITTEN.to_owned(),
    };
    bytes.iter().enumerate().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::cuda::SIZE;

    fn value(bytes: &[u8]) -> Value {
        let mut value = [0; SIZE];
        value[..bytes.len()].copy_from_slice(bytes);
        value
    }

    #[test]
    fn zeros_at_the_end_are_left_out_of_what_was_set_and_kept_in_what_was_written() {
        assert_eq!(set(&value(&[0, 2, 0]), None), "0002");
        assert_eq!(set(&value(&[]), None), "");
        assert_eq!(read(&[Some(0), Some(0xfe), None, Some(0)], None), "00fe..00");
    }

    #[test]
    fn an_address_of_this_run_is_not_recorded() {
        let given = 0x7faa_4a00_0000_u64;
        let address = Some(Address { at: 0, given, made: true });
        let mut bytes = given.to_le_bytes().to_vec();
        assert_eq!(set(&value(&bytes), address), "@@".repeat(8));
        bytes.push(7);
        assert_eq!(set(&value(&bytes), address), "@@".repeat(8) + "07");
        let written: Vec<Option<u8>> = bytes.iter().copied().map(Some).collect();
        assert_eq!(read(&written, address), "@@".repeat(8) + "07");
        assert_eq!(read(&written, Some(Address { at: 0, given: 0, made: false })), "##".repeat(8) + "07");
        assert_eq!(read(&[Some(0); 8], address), "00".repeat(8));
    }

    #[test]
    fn an_address_of_the_sample_is_recorded() {
        let sample = value(&[1, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12]);
        let address = Some(Address { at: 8, given: 0x1234, made: false });
        assert_eq!(set(&sample, address), "01000000000000003412");
        let written: Vec<Option<u8>> = sample[..16].iter().copied().map(Some).collect();
        assert_eq!(read(&written, address), "01000000000000003412000000000000");
    }
}
