//! Attributes of streams, launches and kernel nodes: which a place takes, with which values, and what reading gives.
//!
//! The record of a real machine answers. It has samples, so for a value that was not sampled there is one rule: *each
//! field of it is taken if the sampled values next to it were; beyond the least and the greatest sampled value, that
//! one answers*. Where reading gives something else than was set, the nearest sample that was changed says what.
//! What depends on more than the value (grids, clusters, events) is in [`crate::launch`].

use std::collections::BTreeMap;

use cuda_sys::CUresult;

use crate::abi::Result;
use crate::record::{Observation, Sample, Surface, machine};

pub(crate) const PRIORITY: u32 = 8;

/// What was set, by id.
pub(crate) type Attributes = BTreeMap<u32, Vec<u8>>;

/// A value as reading gives it; the driver leaves the bytes alone that are `None`.
pub(crate) type Written = Vec<Option<u8>>;

pub(crate) fn of_new_stream(priority: i32) -> Attributes {
    let mut attributes = Attributes::new();
    let _ = set(Surface::StreamSet, PRIORITY, &priority.to_le_bytes(), &mut attributes);
    attributes
}

pub(crate) fn priority(attributes: &Attributes) -> i32 {
    let bytes = attributes.get(&PRIORITY).and_then(|value| value.first_chunk().copied());
    bytes.map_or(0, i32::from_le_bytes)
}

/// Sets an attribute in a place, or answers why not.
pub(crate) fn set(surface: Surface, id: u32, value: &[u8], attributes: &mut Attributes) -> Result {
    let observation = observed(id, surface)?;
    refuse_value(observation, id, value)?;
    if let Some(stored) = stored(observation, id, value) {
        attributes.insert(id, stored);
    }
    Ok(())
}

/// Whether a place takes an id at all.
pub(crate) fn refuse_id(surface: Surface, id: u32) -> Result {
    observed(id, surface).map(drop)
}

/// Reads an attribute: what was set, or what it is when nothing was.
pub(crate) fn get(surface: Surface, id: u32, attributes: &Attributes) -> Result<Written> {
    let never_set = observed(id, surface)?.never_set().unwrap_or_default();
    Ok(match attributes.get(&id) {
        None => never_set.to_vec(),
        Some(value) => {
            let mut value = value.iter().copied();
            never_set.iter().map(|byte| value.next().filter(|_| byte.is_some())).collect()
        }
    })
}

fn observed(id: u32, surface: Surface) -> Result<&'static Observation> {
    let observation = machine().observation(id, surface).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    observation.refusal().map_or(Ok(observation), Err)
}

fn refuse_value(observation: &Observation, id: u32, value: &[u8]) -> Result {
    let samples = || observation.samples.iter().filter(|sample| sample.is_of_value());
    if let Some(sample) = samples().find(|sample| is_value_of(sample, value)) {
        return if sample.is_accepted() { Ok(()) } else { Err(sample.code()) };
    }
    for field in Field::of(id) {
        let mut sampled: BTreeMap<i64, CUresult> = BTreeMap::new();
        for sample in samples() {
            let Some(number) = field.number_in(sample) else { continue };
            let code = sampled.entry(number).or_insert_with(|| sample.code());
            if sample.is_accepted() {
                *code = CUresult::CUDA_SUCCESS;
            }
        }
        let number = field.number(value);
        let neighbours = [sampled.range(..=number).next_back(), sampled.range(number..).next()];
        let refusal =
            neighbours.into_iter().flatten().map(|(_, code)| *code).find(|code| *code != CUresult::CUDA_SUCCESS);
        if let Some(code) = refusal {
            return Err(code);
        }
    }
    Ok(())
}

/// What is kept of an accepted value: as many bytes as reading writes; `None` if nothing reads it.
fn stored(observation: &Observation, id: u32, value: &[u8]) -> Option<Vec<u8>> {
    let width = width(id)?;
    let given = || value.iter().copied().chain(std::iter::repeat(0)).take(width).collect::<Vec<u8>>();
    let read = |sample: &Sample| sample.read_back.clone().filter(|_| sample.is_of_value());
    let exact = observation.samples.iter().find(|sample| is_value_of(sample, value) && read(sample).is_some());
    if let Some(back) = exact.and_then(read) {
        return Some(back.iter().zip(given()).map(|(byte, given)| byte.unwrap_or(given)).collect());
    }
    let [field] = Field::of(id)[..] else { return Some(given()) };
    let number = field.number(value);
    let changed = |sample: &&Sample| field.number_in(sample) != field.number_read(sample);
    let samples = || observation.samples.iter().filter(|sample| read(sample).is_some());
    let distance = |sample: &&Sample| field.number_in(sample).map_or(u64::MAX, |sampled| sampled.abs_diff(number));
    let kept = samples().filter(|sample| !changed(sample)).filter_map(|sample| field.number_in(sample));
    let (least, greatest) = (kept.clone().min().unwrap_or(i64::MAX), kept.max().unwrap_or(i64::MIN));
    if (least..=greatest).contains(&number) {
        return Some(given());
    }
    let nearest = samples().filter(changed).min_by_key(distance).and_then(read);
    Some(nearest.map_or_else(given, |back| back.into_iter().map(Option::unwrap_or_default).collect()))
}

/// Whether a sample is of this very value. Addresses differ from run to run.
fn is_value_of(sample: &Sample, value: &[u8]) -> bool {
    let sampled = sample.set.iter().copied().chain(std::iter::repeat(Some(0)));
    value.iter().zip(sampled).all(|(given, sampled)| sampled.is_none_or(|sampled| sampled == *given))
}

/// How many bytes reading an attribute writes, in any place.
fn width(id: u32) -> Option<usize> {
    let places = [Surface::StreamGet, Surface::NodeGet, Surface::CapturedNodeGet];
    places.into_iter().filter_map(|surface| machine().observation(id, surface)?.never_set()).map(<[_]>::len).max()
}

/// A number in a value: the whole of it, or one of its parts.
#[derive(Clone, Copy, Debug)]
struct Field {
    at: usize,
    size: usize,
    is_signed: bool,
}

impl Field {
    /// Bytes in a small value, else words of 32 bits. A value of one word has a sign.
    fn of(id: u32) -> Vec<Self> {
        let width = width(id).unwrap_or(4);
        let size = if width < 4 { 1 } else { 4 };
        (0..width).step_by(size).map(|at| Self { at, size, is_signed: width == 4 }).collect()
    }

    fn number(self, value: &[u8]) -> i64 {
        let mut bytes = [0; 4];
        for (byte, given) in bytes.iter_mut().zip(value.iter().skip(self.at).take(self.size)) {
            *byte = *given;
        }
        if self.is_signed { i64::from(i32::from_le_bytes(bytes)) } else { i64::from(u32::from_le_bytes(bytes)) }
    }

    /// The number in a sample's value, unless it is an address.
    fn number_in(self, sample: &Sample) -> Option<i64> {
        let bytes: Option<Vec<u8>> = sample.set.iter().copied().skip(self.at).take(self.size).collect();
        let mut value = vec![0; self.at];
        value.extend(bytes?);
        Some(self.number(&value))
    }

    fn number_read(self, sample: &Sample) -> Option<i64> {
        let bytes: Option<Vec<u8>> = sample.read_back.as_ref()?.iter().copied().collect();
        Some(self.number(&bytes?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_and_get(id: u32, value: i32) -> Result<i32> {
        let mut attributes = Attributes::new();
        set(Surface::StreamSet, id, &value.to_le_bytes(), &mut attributes)?;
        let read: Option<Vec<u8>> = get(Surface::StreamGet, id, &attributes)?.into_iter().collect();
        Ok(i32::from_le_bytes(read.unwrap().try_into().unwrap()))
    }

    #[test]
    fn a_priority_that_was_not_sampled_is_kept_or_clamped() {
        assert_eq!(set_and_get(PRIORITY, -3), Ok(-3));
        assert_eq!(set_and_get(PRIORITY, -77), Ok(-5));
        assert_eq!(set_and_get(PRIORITY, 4000), Ok(0));
    }

    #[test]
    fn a_policy_beyond_the_sampled_ones_is_refused() {
        assert_eq!(set_and_get(3, 4), Ok(4));
        assert_eq!(set_and_get(3, 77), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
        let fresh = get(Surface::StreamGet, 3, &Attributes::new()).unwrap();
        assert_eq!(fresh, [Some(0xff); 4], "a fresh stream's policy");
    }

    #[test]
    fn a_ratio_between_a_good_and_a_bad_sample_is_bad() {
        let window = |ratio: f32| {
            let mut value = [0; 64];
            value[8..12].copy_from_slice(&4096_u32.to_le_bytes());
            value[16..20].copy_from_slice(&ratio.to_le_bytes());
            value
        };
        let mut attributes = Attributes::new();
        assert_eq!(set(Surface::StreamSet, 1, &window(0.25), &mut attributes), Ok(()));
        assert_eq!(set(Surface::StreamSet, 1, &window(1.25), &mut attributes), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    }

    #[test]
    fn an_id_that_the_place_does_not_have_is_refused() {
        for id in [0, 4, 15, 999, 123_456] {
            assert_eq!(refuse_id(Surface::StreamSet, id), Err(CUresult::CUDA_ERROR_INVALID_VALUE), "{id}");
        }
    }
}
