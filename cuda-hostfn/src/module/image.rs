//! What kind of image some bytes are, and whether they are all there.

/// A whole image.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Ptx(&'a str),
    /// A cubin (ELF) or a fatbin.
    Binary,
}

pub(super) fn recognise(image: &[u8]) -> Result<Kind<'_>, &'static str> {
    const TRUNCATED: &str = "is truncated";
    match image {
        [0x7f, b'E', b'L', b'F', ..] => elf(image).map(|()| Kind::Binary).ok_or(TRUNCATED),
        [0x50, 0xed, 0x55, 0xba, ..] => fatbin(image).map(|()| Kind::Binary).ok_or(TRUNCATED),
        [] => Err("is empty"),
        _ => match std::str::from_utf8(image) {
            Ok(text) if text.contains(".version") && text.contains(".target") => Ok(Kind::Ptx(text)),
            _ => Err("is neither PTX nor a cubin nor a fatbin"),
        },
    }
}

/// Whether the header tables and what they point to lie inside a 64-bit little-endian ELF file.
fn elf(image: &[u8]) -> Option<()> {
    const NO_BITS: u32 = 8;
    let (programs, sections) = (u64_at(image, 0x20)?, u64_at(image, 0x28)?);
    let [program_size, program_count, section_size, section_count] =
        [0x36, 0x38, 0x3a, 0x3c].map(|offset| u16_at(image, offset).map(u64::from));
    let entry = |table: u64, size: Option<u64>, index| {
        let start = usize::try_from(table.checked_add(size?.checked_mul(index)?)?).ok()?;
        let end = start.checked_add(usize::try_from(size?).ok()?)?;
        image.get(start..end)
    };
    let is_inside = |offset: u64, size: u64| offset.checked_add(size).is_some_and(|end| end <= image.len() as u64);
    for index in 0..section_count? {
        let section = entry(sections, section_size, index)?;
        let has_bits = u32_at(section, 0x4)? != NO_BITS;
        if has_bits && !is_inside(u64_at(section, 0x18)?, u64_at(section, 0x20)?) {
            return None;
        }
    }
    for index in 0..program_count? {
        let program = entry(programs, program_size, index)?;
        if !is_inside(u64_at(program, 0x8)?, u64_at(program, 0x20)?) {
            return None;
        }
    }
    Some(())
}

/// Whether what the header of a fatbin announces is there.
fn fatbin(image: &[u8]) -> Option<()> {
    let size = u64::from(u16_at(image, 6)?).checked_add(u64_at(image, 8)?)?;
    (size <= image.len() as u64).then_some(())
}

fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes_at(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes_at(bytes, offset).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes_at(bytes, offset).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_is_text_with_its_directives() {
        let ptx = ".version 7.0\n.target sm_70\n";
        assert_eq!(recognise(ptx.as_bytes()), Ok(Kind::Ptx(ptx)));
        assert!(recognise(b"hello").is_err());
        assert!(recognise(b".version 7.0").is_err() && recognise(b".target sm_70").is_err());
        assert!(recognise(&[0xff; 40]).is_err());
        assert_eq!(recognise(b""), Err("is empty"));
    }

    /// One section of 16 bytes behind one section header.
    fn tiny_elf() -> Vec<u8> {
        let mut elf = vec![0; 64 + 64 + 16];
        elf[..4].copy_from_slice(b"\x7fELF");
        let mut put = |offset: usize, bytes: &[u8]| elf[offset..offset + bytes.len()].copy_from_slice(bytes);
        put(0x28, &64_u64.to_le_bytes());
        put(0x3a, &64_u16.to_le_bytes());
        put(0x3c, &1_u16.to_le_bytes());
        put(64 + 0x18, &128_u64.to_le_bytes());
        put(64 + 0x20, &16_u64.to_le_bytes());
        elf
    }

    #[test]
    fn every_truncation_of_a_cubin_is_noticed() {
        let elf = tiny_elf();
        assert_eq!(recognise(&elf), Ok(Kind::Binary));
        for length in 4..elf.len() {
            assert_eq!(recognise(&elf[..length]), Err("is truncated"), "{length}");
        }
    }

    #[test]
    fn a_section_without_bits_may_lie_outside() {
        let mut elf = tiny_elf();
        elf[64 + 0x24] = 1;
        assert_eq!(recognise(&elf), Err("is truncated"));
        elf[64 + 0x4] = 8;
        assert_eq!(recognise(&elf), Ok(Kind::Binary));
    }

    #[test]
    fn programs_lie_inside() {
        // The bytes of the section's header, as a program's.
        let mut elf = tiny_elf();
        elf[0x20] = 64;
        (elf[0x36], elf[0x38]) = (56, 1);
        assert_eq!(recognise(&elf), Ok(Kind::Binary));
        elf[64 + 0xc] = 1;
        assert_eq!(recognise(&elf), Err("is truncated"));
    }

    #[test]
    fn hostile_offsets_do_not_overflow() {
        let mut elf = tiny_elf();
        elf[0x28..0x30].fill(0xff);
        assert_eq!(recognise(&elf), Err("is truncated"));
    }

    #[test]
    fn every_truncation_of_a_fatbin_is_noticed() {
        let mut fatbin = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        fatbin.extend(8_u64.to_le_bytes());
        fatbin.extend([0; 8]);
        assert_eq!(recognise(&fatbin), Ok(Kind::Binary));
        for length in 4..fatbin.len() {
            assert_eq!(recognise(&fatbin[..length]), Err("is truncated"), "{length}");
        }
    }
}
