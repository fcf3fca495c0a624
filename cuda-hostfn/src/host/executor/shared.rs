//! What an executor and its workers share, and how a call gets into a stream.

use std::ptr::NonNull;

use super::crew::Crew;
use super::operations::Width;
use super::options::Waiting;
use super::strand::Strand;
use super::strands::Strands;
use crate::error::call;
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
        let (index, is_first) = self.strands.begin(&self.context, (id(stream)?, stream.as_raw().addr()))?;
        if is_first {
            self.crew.begin();
        }
        Ok(Lease { shared: self, index })
    }
}

/// Tells a stream from all that there were (`cuStreamGetId`).
pub(super) fn id(stream: &StreamRef) -> Result<u64> {
    let raw = stream.as_raw();
    let mut id = 0;
    // SAFETY: the handle lives; the pointer is valid for a write.
    stream.with_context_if_needed(|| unsafe { call!(entry::cuStreamGetId(raw, &raw mut id)) })?;
    Ok(id)
}

impl Lease<'_> {
    /// Of the stream.
    pub(in crate::host) fn stream_id(&self) -> u64 {
        self.strand().stream().0
    }

    /// Puts a record's call into the stream.
    pub(in crate::host) fn put(&self, stream: &StreamRef, record: NonNull<Header>) -> Result<()> {
        let (number, place) = (self.strand().next_number(), self.shared.strands.place(self.index));
        // SAFETY: the record is still this thread's.
        unsafe { record.as_ref() }.number_is(number);
        stream.with_context_if_needed(|| {
            // SAFETY: the stream lives, and is of the executor's context; `Chunk` says how long the memory is there.
            unsafe { self.shared.width.put(stream.as_raw(), place, record, number) }
        })
    }

    /// The call was not put into the stream, or its record was cancelled: nobody else counts it as over.
    pub(in crate::host) fn give_back(self) {
        self.shared.over(self.strand());
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

impl Shared {
    /// A call is over.
    pub(super) fn over(&self, strand: &Strand) {
        if strand.end() {
            self.crew.end();
        }
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
