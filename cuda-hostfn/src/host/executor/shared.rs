//! What an executor and its workers share, and how a call gets into a stream.

use std::ptr::NonNull;

use super::crew::Crew;
use super::operations::Width;
use super::options::Waiting;
use super::strand::Strand;
use super::strands::Strands;
use crate::host::record::Header;
use crate::{Context, Result, StreamRef};

#[derive(Debug)]
pub(in crate::host) struct Shared {
    context: Context,
    width: Width,
    pub(super) waiting: Waiting,
    pub(super) strands: Strands,
    pub(super) crew: Crew,
}

/// A stream's strand, in which one call more is counted.
#[derive(Debug)]
#[must_use = "the call is counted"]
pub(in crate::host) struct Lease<'e> {
    shared: &'e Shared,
    index: usize,
    /// The call's.
    number: u64,
}

impl Shared {
    pub(super) fn new(context: &Context, width: Width, waiting: Waiting) -> Result<Self> {
        let strands = Strands::new(context)?;
        Ok(Self { context: context.clone(), width, waiting, strands, crew: Crew::new() })
    }

    pub(in crate::host) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn method(&self) -> super::Method {
        self.width.method()
    }

    /// The bells do not ring any more.
    pub(super) fn is_lost(&self) -> bool {
        self.context.lane().fault().is_some()
    }

    /// Counts a call that is to be put into the stream.
    pub(in crate::host) fn lease(&self, stream: &StreamRef) -> Result<Lease<'_>> {
        let stream = (stream.id()?, stream.as_raw().addr());
        let (index, (number, is_new)) = self.strands.begin(&self.context, stream)?;
        if is_new {
            self.crew.begin();
        }
        Ok(Lease { shared: self, index, number })
    }

    /// Counts a strand no more if nothing is in flight in it.
    pub(super) fn leave(&self, strand: &Strand) {
        if strand.leave() {
            self.crew.end();
        }
    }

    /// Of all.
    pub(super) fn leave_quiet(&self) {
        self.strands.all(0).for_each(|strand| self.leave(strand));
    }
}

impl Lease<'_> {
    /// Of the stream.
    pub(in crate::host) fn stream_id(&self) -> u64 {
        self.strand().stream().0
    }

    /// Puts a record's call into the stream.
    pub(in crate::host) fn put(&self, stream: &StreamRef, record: NonNull<Header>) -> Result<()> {
        let place = self.shared.strands.place(self.index);
        // SAFETY: the record is still this thread's.
        unsafe { record.as_ref() }.number_is(self.number);
        stream.with_context_if_needed(|| {
            // SAFETY: the stream lives, and is of the executor's context; `Chunk` says how long the memory is there.
            unsafe { self.shared.width.put(stream.as_raw(), place, record, self.number) }
        })
    }

    /// The call was not put into the stream, or its record was cancelled: nobody else counts it as over.
    pub(in crate::host) fn give_back(self) {
        self.strand().end();
    }

    /// The driver may have kept a call that was given back, or may do one again.
    pub(in crate::host) fn retire(&self) {
        self.shared.strands.retire(self.index);
        // One of them is to look after it.
        self.shared.crew.wake_all();
    }

    fn strand(&self) -> &Strand {
        self.shared.strands.strand(self.index)
    }
}

impl Drop for Shared {
    /// No worker is left, and what was in flight is answered, or lost.
    fn drop(&mut self) {
        if self.is_lost() || self.strands.has_retired() {
            self.strands.leak();
        }
    }
}
