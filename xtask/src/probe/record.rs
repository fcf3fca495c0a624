//! From answers to the record of a device.

use std::collections::BTreeMap;

use super::device;
use super::message::{Answered, Call};
use super::plan::{self, Ask, On, Question};
use super::samples::{self, row};
use super::verdict::{self, Asked, Id};
use super::watch::{self, Answers};
use crate::observations::{Machine, Observation, Range, SCHEMA, Sample, Surface, Verdict};

const SURFACES: [Surface; 7] = [
    Surface::Launch,
    Surface::LaunchCapturing,
    Surface::StreamSet,
    Surface::StreamGet,
    Surface::NodeSet,
    Surface::NodeGet,
    Surface::CapturedNodeGet,
];

pub(super) fn machine(answers: &Answers) -> Machine {
    let facts = &answers.facts;
    let (major, minor) = facts.compute_capability;
    let questions = plan::questions();
    let of_id = |id| observations(id, answers, &questions);
    Machine {
        schema: Some(SCHEMA),
        device: facts.name.clone(),
        compute_capability: format!("{major}.{minor}"),
        driver: version(facts.driver.unsigned_abs()),
        kernel_driver: device::kernel_driver(),
        recorded: today(),
        live: false,
        probe: env!("CARGO_PKG_VERSION").to_owned(),
        header: version(cuda_sys::CUDA_VERSION),
        controls: answers.controls.clone(),
        observed: samples::ids().flat_map(of_id).collect(),
    }
}

/// Such as `13.0` of 13000.
fn version(number: u32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

fn today() -> String {
    jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date().to_string()
}

/// One call that was made, and where it belongs.
struct Made<'a> {
    question: &'a Question,
    answered: &'a Answered,
    asked: Asked<'a>,
}

impl<'a> Made<'a> {
    fn new(question: &'a Question, answered: &'a Answered) -> Option<Self> {
        let Call::Made { status, .. } = &answered.call else { return None };
        let sample = question.sample();
        let asked = Asked {
            range: sample.map_or(Range::Good, |sample| sample.range),
            lacks_prerequisite: sample.is_some_and(|sample| sample.lacks_prerequisite),
            status,
        };
        Some(Self { question, answered, asked })
    }

    fn is_of(&self, surface: Surface, on: On) -> bool {
        self.answered.surface == surface && self.answered.on == on
    }
}

fn observations(id: u32, answers: &Answers, questions: &[Question]) -> Vec<Observation> {
    let of_id = questions.iter().enumerate().filter(|(_, question)| question.id == id);
    let calls = of_id.filter_map(|(number, question)| Some((question, answers.answered.get(&number)?)));
    let calls: Vec<_> = calls.flat_map(|(question, calls)| calls.iter().map(move |call| (question, call))).collect();
    let made: Vec<Made<'_>> = calls.iter().filter_map(|(question, answered)| Made::new(question, answered)).collect();
    let lacks = row(id).needs.filter(|feature| answers.facts.lacks.contains(feature));
    let all_asked = watch::lost(answers, questions).all(|(question, _)| question.id != id);
    let known = Id::new(made.iter().map(|made| made.asked.status), all_asked, lacks.is_some());

    let observation = |surface| {
        let of = |on| -> Vec<&Made<'_>> { made.iter().filter(|made| made.is_of(surface, on)).collect() };
        let own = of(On::Own);
        let asked: Vec<Asked<'_>> = own.iter().map(|made| made.asked).collect();
        let (verdict, decisive) = verdict::verdict(&asked, known);
        let not_made = || calls.iter().find_map(|(_, answered)| refusal(answered, surface));
        let lost = || watch::lost(answers, questions).find(|(q, _)| q.id == id && q.surfaces().contains(&surface));
        let reason = match verdict {
            Verdict::Unsupported => lacks.map(|feature| format!("the device has no {}", feature.words())),
            _ => not_made(),
        };
        let reason = reason.or_else(|| {
            let (question, why) = lost()?;
            Some(format!("{}: {why}", question.words(&answers.facts.limits)))
        });
        let special = On::SPECIAL.into_iter().filter_map(|on| {
            let asked: Vec<Asked<'_>> = of(on).iter().map(|made| made.asked).collect();
            let tried = calls.iter().any(|(_, answered)| answered.surface == surface && answered.on == on);
            tried.then(|| (on.name().to_owned(), verdict::verdict(&asked, known).0))
        });
        Observation {
            id,
            surface,
            verdict,
            status: decisive.map(|call| call.status.to_owned()),
            reason,
            special_streams: special.collect::<BTreeMap<_, _>>(),
            samples: own.iter().map(|made| sample(made, &asked, known, answers)).collect(),
        }
    };
    SURFACES.into_iter().map(observation).collect()
}

fn refusal(answered: &Answered, surface: Surface) -> Option<String> {
    match &answered.call {
        Call::NotMade(why) if answered.surface == surface && answered.on == On::Own => Some(why.clone()),
        _ => None,
    }
}

fn sample(made: &Made<'_>, asked: &[Asked<'_>], id: Id, answers: &Answers) -> Sample {
    let Call::Made { status, set, read_back, capture_survived } = &made.answered.call else {
        unreachable!("`Made` holds calls that were made");
    };
    let on_stream = matches!(made.answered.surface, Surface::StreamSet | Surface::StreamGet);
    let sample = made.question.sample();
    Sample {
        value: match (made.question.ask, sample) {
            (Ask::Set(..), Some(sample)) => sample.words(&answers.facts.limits),
            _ => "never set".to_owned(),
        },
        range: made.asked.range,
        prerequisite: sample.and_then(|sample| sample.prerequisite(on_stream)),
        answer: verdict::answer(&made.asked, asked, id),
        status: status.clone(),
        set: set.clone(),
        read_back: read_back.clone(),
        capture_survived: *capture_survived,
    }
}
