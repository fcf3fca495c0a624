//! The owner of a record other than the driver: of the thread that enqueues, then of the task.

use std::ptr::NonNull;
use std::task::Waker;

use super::in_host_function;
use super::job::Job;
use super::lane::Lane;
use super::panics::Panic;
use super::reclaim;
use super::record::{self, Header, Record, give_back};
use crate::Context;

/// It shares the record with the driver.
#[derive(Debug)]
pub(super) struct Handle(NonNull<Header>);

// SAFETY: jobs and outcomes are `Send`, and the rest of a record is made for several threads.
unsafe impl Send for Handle {}
// SAFETY: as above; a shared handle only looks at the state and sets the waker.
unsafe impl Sync for Handle {}

impl Handle {
    /// A record in the lane of its context, for the driver. The job [fits](Record::FITS).
    pub(super) fn new<J: Job>(context: &Context, job: J) -> Self {
        let slot = Lane::take(context);
        // SAFETY: just taken.
        unsafe { Record::write(slot, job) };
        Self(slot)
    }

    pub(super) fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the record.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn record(&self) -> NonNull<Header> {
        self.0
    }

    /// The driver has refused the call: takes the job out, unless it has run for all that. If the driver may have kept
    /// the address nevertheless, the record stays.
    ///
    /// # Safety
    ///
    /// The handle was made from a `J` in this context, and was not [accepted](Header::accepted).
    pub(super) unsafe fn refused<J: Job>(self, context: &Context, is_certain: bool) -> Result<J, Self> {
        let record = self.header();
        if !record.state.cancel() {
            return Err(self);
        }
        // SAFETY: the record of such a job, says the caller.
        let payload = unsafe { Record::<J>::payload(self.0) };
        // SAFETY: `cancel` was won.
        let job = unsafe { &mut *payload.job.get() }.take();
        if is_certain {
            // SAFETY: the driver's reference, which it did not take.
            unsafe { give_back(self.0) };
        } else {
            context.lane().lose(self.0);
        }
        job.ok_or(self)
    }

    /// Whether there is nothing to wait for.
    pub(super) fn is_over(&self) -> bool {
        self.header().state.has_run() || self.header().state.is_cancelled()
    }

    /// Wakes `waker` when the record is over; another that was set before is forgotten.
    pub(super) fn wake(&self, waker: Option<&Waker>) {
        let waker = waker.cloned();
        // SAFETY: the handle's reference keeps the record.
        let place = unsafe { record::waker(self.0) };
        let before = std::mem::replace(&mut *place.lock(), waker);
        drop(before);
    }

    /// Takes the outcome, and drops the job at once, unless this is a host function.
    ///
    /// # Safety
    ///
    /// The handle was made from a `J`, which [has run](State::has_run), and no other thread uses it.
    pub(super) unsafe fn take_outcome<J: Job>(&self) -> Option<Result<J::Output, Panic>> {
        let record = self.header();
        if !in_host_function() && record.state.release() {
            // SAFETY: `release` was won.
            unsafe { (record.table().drop_job)(self.0) };
        }
        // SAFETY: the record of such a job, says the caller.
        let payload = unsafe { Record::<J>::payload(self.0) };
        // SAFETY: the outcome belongs to the handle now.
        unsafe { &mut *payload.outcome.get() }.take()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let header = self.0;
        if in_host_function() {
            let later = Self(header);
            return reclaim::defer(move || drop(later));
        }
        // SAFETY: the handle's reference.
        unsafe { give_back(header) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::host::job::{Launch, Once, With};
    use crate::host::{reclaim, trampoline};

    type Function = fn();
    type Sum = fn(&mut Arc<i32>) -> i32;

    const NOTHING: Function = || ();

    struct Nobody;

    impl Wake for Nobody {
        fn wake(self: Arc<Self>) {}
    }

    /// A record that the driver has accepted, in a context of no driver.
    fn accepted<J: Job>(context: &Context, job: J) -> Handle {
        let handle = Handle::new(context, job);
        handle.header().accepted();
        handle
    }

    /// What the driver does, on a thread of its own.
    fn call(handle: &Handle) {
        let address = handle.record().expose_provenance().get();
        // SAFETY: the record's address, as the driver is given it.
        let call = move || unsafe { trampoline::call(std::ptr::with_exposed_provenance_mut(address)) };
        thread::spawn(call).join().expect("nothing unwinds");
    }

    fn lose_all(context: &Context) -> usize {
        let why = crate::Error::invalid("context", "lost");
        let lost = context.lane().give_up(why);
        // SAFETY: just cancelled and taken out.
        lost.iter().for_each(|&record| unsafe { Header::lose(record) });
        lost.len()
    }

    #[test]
    fn a_closure_is_dropped_by_the_next_reclaim() {
        let (context, value) = (Context::fake(), Arc::new(()));
        let captured = value.clone();
        let handle = accepted(&context, Launch(move || assert_eq!(Arc::strong_count(&captured), 2)));
        assert_eq!(context.lane().outstanding(), 1);
        call(&handle);
        assert!(handle.is_over() && context.lane().outstanding() == 0);
        drop(handle);
        // Another test may be at it.
        while Arc::strong_count(&value) > 1 {
            reclaim().unwrap();
        }
    }

    #[test]
    fn a_task_gives_its_result_and_drops_its_value() {
        let (context, value) = (Context::fake(), Arc::new(7));
        let handle = accepted(&context, With::new(value.clone(), (|value: &mut Arc<i32>| **value + 1) as Sum));
        call(&handle);
        assert!(handle.header().state.has_run());
        // SAFETY: made from this type; it has run.
        let outcome = unsafe { handle.take_outcome::<With<Arc<i32>, Sum>>() };
        assert_eq!(outcome.map(|outcome| outcome.map_err(|panic| panic.to_string())), Some(Ok(8)));
        assert_eq!(Arc::strong_count(&value), 1);
    }

    /// Who polls may leave a waker when the driver's thread has already looked for one.
    #[test]
    fn a_waker_that_comes_too_late_goes_with_the_record() {
        let (context, woken) = (Context::fake(), Arc::new(Nobody));
        let handle = accepted(&context, Once::new(|| 7));
        call(&handle);
        handle.wake(Some(&woken.clone().into()));
        drop(handle);
        // Another test may be at it.
        let patience = Instant::now() + Duration::from_secs(10);
        while Arc::strong_count(&woken) > 1 {
            assert!(Instant::now() < patience, "the waker is left");
            reclaim().unwrap();
        }
    }

    #[test]
    fn what_is_refused_comes_back_and_is_not_counted() {
        let context = Context::fake();
        for is_certain in [true, false] {
            let handle = Handle::new(&context, Launch(NOTHING));
            // A loss elsewhere does not take what is not accepted.
            assert_eq!(lose_all(&context), 0);
            // SAFETY: made from this type in this context.
            assert!(unsafe { handle.refused::<Launch<Function>>(&context, is_certain) }.is_ok());
            assert_eq!(context.lane().outstanding(), 0);
        }
    }

    #[test]
    fn what_was_refused_and_ran_for_all_that_is_as_if_accepted() {
        let context = Context::fake();
        let handle = Handle::new(&context, Launch(NOTHING));
        call(&handle);
        // SAFETY: made from this type in this context.
        let handle = unsafe { handle.refused::<Launch<Function>>(&context, true) }.unwrap_err();
        assert!(handle.header().state.has_run());
    }

    #[test]
    fn what_may_be_called_again_keeps_its_slot() {
        let context = Context::fake();
        let handle = accepted(&context, Launch(NOTHING));
        let kept = handle.record();
        handle.header().keep_for_ever();
        call(&handle);
        drop(handle);
        for _ in 0..200 {
            let other = accepted(&context, Launch(NOTHING));
            assert_ne!(other.record(), kept);
            call(&other);
        }
    }

    #[test]
    fn what_is_lost_is_released_and_never_runs() {
        let (context, value) = (Context::fake(), Arc::new(()));
        let captured = value.clone();
        let (first, second) =
            (accepted(&context, Once::new(move || drop(captured))), accepted(&context, Launch(|| ())));
        let other = value.clone();
        let done = accepted(&context, Once::new(move || drop(other)));
        call(&done);
        assert_eq!(lose_all(&context), 2);
        assert!(first.header().state.is_cancelled() && second.is_over() && done.header().state.has_run());
        assert_eq!((Arc::strong_count(&value), context.lane().outstanding()), (1, 0));
        // The driver calls after all.
        call(&first);
        assert!(first.header().state.is_cancelled());
    }
}
