//! Asking: one question on fresh streams, nodes and graphs.

use super::bytes::{self, Address};
use super::cuda::{Attribute, Context, Event, Failed, Graph, Kernel, Memory, Node, SIZE, Status, Stream, Target};
use super::device::Kernels;
use super::limits::Limits;
use super::message::{Answered, Call};
use super::plan::{Ask, On, Place, Question};
use super::samples::{BLOCKS, Given, Sample, Value, row};
use crate::observations::{Range, Surface};

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;
const CLUSTER_DIMENSION: u32 = 4;

/// What questions are asked with.
#[derive(Debug)]
pub(super) struct Asker<'context> {
    pub(super) context: &'context Context,
    pub(super) kernels: Kernels<'context>,
    pub(super) limits: Limits,
    /// For the access policy window.
    pub(super) memory: Result<Memory<'context>, Failed>,
}

impl Asker<'_> {
    /// The answers of every surface of a question.
    pub(super) fn ask(&self, question: &Question) -> Vec<Answered> {
        let answered = match (question.ask, question.sample()) {
            (Ask::Set(_, place), Some(sample)) => self.set(question.id, sample, place),
            _ => self.unset(question.id),
        };
        answered.unwrap_or_else(|failed| {
            let not_made = |surface: &Surface| answered_on(On::Own, *surface, Call::NotMade(failed.to_string()));
            question.surfaces().iter().map(not_made).collect()
        })
    }

    /// Launches without attributes, and with one that was never assigned.
    pub(super) fn control(&self, attributes: &[Attribute]) -> Result<Status, Failed> {
        let stream = Stream::new(self.context)?;
        let status = self.kernels.portable.launch(Target::Own(&stream), BLOCKS, attributes);
        Target::Own(&stream).synchronise()?;
        Ok(status)
    }

    fn unset(&self, id: u32) -> Result<Vec<Answered>, Failed> {
        let address = row(id).samples.first().and_then(|sample| sample.value.address_at());
        let address = address.map(|at| Address { at, given: 0, made: false });
        let read = |got| read(got, "", address);
        let stream = Stream::new(self.context)?;
        let mut answers = Vec::new();
        for (on, target) in targets(&stream) {
            answers.push(answered_on(on, Surface::StreamGet, read(target.get(id))));
        }
        let graph = Graph::new(self.context)?;
        let node = graph.add_kernel(self.kernels.portable, BLOCKS)?;
        answers.push(answered_on(On::Own, Surface::NodeGet, read(node.get(id))));
        for (on, target) in targets(&stream).filter(|(on, _)| matches!(on, On::Own | On::PerThread)) {
            let launch = || self.kernels.portable.launch(target, BLOCKS, &[]);
            let captured = target.capture(self.context, launch)?;
            if let Some(node) = captured.graph.as_ref().and_then(Graph::kernel_node) {
                answers.push(answered_on(on, Surface::CapturedNodeGet, read(node.get(id))));
            }
        }
        Ok(answers)
    }

    fn set(&self, id: u32, sample: &Sample, place: Place) -> Result<Vec<Answered>, Failed> {
        let event = match sample.value {
            Value::Event { created: Some(flags), .. } => {
                let timing = if sample.has(Given::NoTiming) { DISABLE_TIMING } else { 0 };
                Some(Event::new(self.context, flags | timing)?)
            }
            _ => None,
        };
        let made = match &event {
            Some(event) => event.address(),
            None if sample.has(Given::Memory) => self.memory.as_ref().map_err(|failed| *failed)?.address(),
            None => 0,
        };
        let value = sample.value.encode(&self.limits, made);
        let address = sample.value.address_at().map(|at| {
            let field = std::array::from_fn(|index| value[at + index]);
            Address { at, given: u64::from_le_bytes(field), made: made != 0 }
        });
        let setting = Setting { attribute: Attribute { id, value }, address, sample };
        match place {
            Place::Launch => self.set_on_launch(&setting),
            Place::Capture => self.set_on_captured_launch(&setting),
            Place::Stream => self.set_on_stream(&setting),
            Place::Node => self.set_on_node(&setting),
        }
    }

    fn set_on_launch(&self, setting: &Setting<'_>) -> Result<Vec<Answered>, Failed> {
        let kernel = self.kernel(setting.sample)?;
        let stream = Stream::new(self.context)?;
        let mut answers = Vec::new();
        for (on, target) in setting.targets(&stream) {
            let status = kernel.launch(target, setting.sample.blocks(), &setting.list());
            answers.push(answered_on(on, Surface::Launch, setting.call(status, None, None)));
        }
        Ok(answers)
    }

    fn set_on_captured_launch(&self, setting: &Setting<'_>) -> Result<Vec<Answered>, Failed> {
        let kernel = self.kernel(setting.sample)?;
        let stream = Stream::new(self.context)?;
        let mut answers = Vec::new();
        for (on, target) in setting.targets(&stream) {
            let launch = || kernel.launch(target, setting.sample.blocks(), &setting.list());
            let captured = match target.capture(self.context, launch) {
                Ok(captured) => captured,
                Err(failed) => {
                    answers.push(answered_on(on, Surface::LaunchCapturing, Call::NotMade(failed.to_string())));
                    continue;
                }
            };
            let (status, survived) = (captured.result, Some(captured.survived));
            let node = captured.graph.as_ref().and_then(Graph::kernel_node).filter(|_| status.is_success());
            let got = node.map(|node| setting.read(node.get(setting.attribute.id)));
            let read_back = got.as_ref().and_then(read_back);
            answers.push(answered_on(on, Surface::LaunchCapturing, setting.call(status, read_back, survived)));
            answers.extend(got.map(|got| answered_on(on, Surface::CapturedNodeGet, got)));
        }
        Ok(answers)
    }

    fn set_on_stream(&self, setting: &Setting<'_>) -> Result<Vec<Answered>, Failed> {
        let id = setting.attribute.id;
        let stream = Stream::new(self.context)?;
        let mut answers = Vec::new();
        for (on, target) in setting.targets(&stream) {
            let (readable, before) = target.get(id);
            let status = target.set(setting.attribute);
            let got = status.is_success().then(|| setting.read(target.get(id)));
            let read_back = got.as_ref().and_then(read_back);
            answers.push(answered_on(on, Surface::StreamSet, setting.call(status, read_back, None)));
            answers.extend(got.map(|got| answered_on(on, Surface::StreamGet, got)));
            if on != On::Own && readable.is_success() && status.is_success() {
                // These streams outlive the question. A value that cannot be set back stays.
                let mut value = [0; SIZE];
                value.iter_mut().zip(before).for_each(|(byte, before)| *byte = before.unwrap_or(0));
                let _: Status = target.set(Attribute { id, value });
            }
        }
        Ok(answers)
    }

    fn set_on_node(&self, setting: &Setting<'_>) -> Result<Vec<Answered>, Failed> {
        let graph = Graph::new(self.context)?;
        let node: Node<'_> = graph.add_kernel(self.kernel(setting.sample)?, setting.sample.blocks())?;
        if let Some(cluster) = setting.cluster() {
            let status = node.set(cluster);
            if !status.is_success() {
                let call = Call::NotMade(format!("setting the cluster that it needs gives {status}"));
                return Ok(vec![answered_on(On::Own, Surface::NodeSet, call)]);
            }
        }
        let status = node.set(setting.attribute);
        let got = status.is_success().then(|| setting.read(node.get(setting.attribute.id)));
        let read_back = got.as_ref().and_then(read_back);
        let set = answered_on(On::Own, Surface::NodeSet, setting.call(status, read_back, None));
        Ok([set].into_iter().chain(got.map(|got| answered_on(On::Own, Surface::NodeGet, got))).collect())
    }

    fn kernel(&self, sample: &Sample) -> Result<Kernel<'_>, Failed> {
        if sample.has(Given::AnyClusterKernel) { self.kernels.any_cluster } else { Ok(self.kernels.portable) }
    }
}

/// A sample that was made ready to be set.
struct Setting<'sample> {
    attribute: Attribute,
    address: Option<Address>,
    sample: &'sample Sample,
}

impl Setting<'_> {
    /// The streams to ask on. What a special one says of values out of range is in no record.
    fn targets<'a>(&self, stream: &'a Stream<'a>) -> impl Iterator<Item = (On, Target<'a>)> {
        let only_own = self.sample.range == Range::OutOfRange;
        targets(stream).filter(move |(on, _)| *on == On::Own || !only_own)
    }

    fn cluster(&self) -> Option<Attribute> {
        let mut value = [0; SIZE];
        value[0..4].copy_from_slice(&self.sample.cluster()?.to_le_bytes());
        value[4] = 1;
        value[8] = 1;
        Some(Attribute { id: CLUSTER_DIMENSION, value })
    }

    fn list(&self) -> Vec<Attribute> {
        self.cluster().into_iter().chain([self.attribute]).collect()
    }

    fn set(&self) -> String {
        bytes::set(&self.attribute.value, self.address)
    }

    fn call(&self, status: Status, read_back: Option<String>, capture_survived: Option<bool>) -> Call {
        Call::Made { status: status.to_string(), set: self.set(), read_back, capture_survived }
    }

    fn read(&self, got: (Status, Vec<Option<u8>>)) -> Call {
        read(got, &self.set(), self.address)
    }
}

fn targets<'a>(stream: &'a Stream<'a>) -> impl Iterator<Item = (On, Target<'a>)> {
    let special = On::SPECIAL.into_iter().zip([Target::Null, Target::Legacy, Target::PerThread]);
    [(On::Own, Target::Own(stream))].into_iter().chain(special)
}

fn read((status, written): (Status, Vec<Option<u8>>), set: &str, address: Option<Address>) -> Call {
    let read_back = status.is_success().then(|| bytes::read(&written, address));
    Call::Made { status: status.to_string(), set: set.to_owned(), read_back, capture_survived: None }
}

fn read_back(call: &Call) -> Option<String> {
    match call {
        Call::Made { read_back, .. } => read_back.clone(),
        Call::NotMade(_) => None,
    }
}

fn answered_on(on: On, surface: Surface, call: Call) -> Answered {
    Answered { surface, on, call }
}
