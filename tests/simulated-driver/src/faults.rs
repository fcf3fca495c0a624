//! Faults and disorder on demand. Suites ask for them.

use std::time::Duration;

use cuda_sys::CUresult;
use simulated_driver_client::When;

/// What was asked for and has not happened yet.
pub(crate) struct Faults {
    failures: Vec<Failure>,
    runs: Vec<Runs>,
    schedule: Option<Schedule>,
    /// A fault of the device is noticed at the latest when so much has been enqueued after it.
    notice_after: Option<u64>,
    /// How long a fault of the device looks like work that is not done.
    pub(crate) notice_delay: Duration,
    /// Enqueueing waits while a host function runs, as has been seen in the field.
    pub(crate) enqueue_waits: bool,
    /// Streams share so many queues of the device, and one that waits at a memory operation holds up its queue.
    pub(crate) connections: Option<u64>,
    /// The device has no stream memory operations on 64 bits.
    pub(crate) is_without_wide_operations: bool,
}

/// The `nth` call of a function from now on fails.
struct Failure {
    function: String,
    nth: u64,
    code: CUresult,
    when: When,
}

/// The `nth` host function from now on is called `times` times.
struct Runs {
    nth: u64,
    times: u32,
}

/// Disorder between streams, the same for the same seed and the same calls.
struct Schedule {
    random: fastrand::Rng,
    delay: Duration,
}

impl Faults {
    pub(crate) const NONE: Self = Self {
        failures: Vec::new(),
        runs: Vec::new(),
        schedule: None,
        notice_after: None,
        notice_delay: Duration::ZERO,
        enqueue_waits: false,
        connections: None,
        is_without_wide_operations: false,
    };

    pub(crate) fn fail(&mut self, function: &str, nth: u64, code: CUresult, when: When) {
        self.failures.push(Failure { function: function.to_owned(), nth: nth.max(1), code, when });
    }

    pub(crate) fn run_host_function(&mut self, nth: u64, times: u32) {
        self.runs.push(Runs { nth: nth.max(1), times });
    }

    /// Streams take turns at random, and a piece of work starts up to `delay` late.
    pub(crate) fn schedule(&mut self, seed: u64, delay: Duration) {
        self.schedule = Some(Schedule { random: fastrand::Rng::with_seed(seed), delay });
    }

    pub(crate) fn notice_after(&mut self, enqueued: u64) {
        self.notice_after = Some(enqueued);
    }

    /// A function is called: whether and how that call is to fail.
    pub(crate) fn on_call(&mut self, function: &str) -> Option<(CUresult, When)> {
        let mut due = None;
        self.failures.retain_mut(|failure| {
            if failure.function != function {
                return true;
            }
            failure.nth -= 1;
            if failure.nth == 0 {
                due = Some((failure.code, failure.when));
            }
            failure.nth > 0
        });
        due
    }

    /// A host function is due: how many times it is called.
    pub(crate) fn on_host_function(&mut self) -> u32 {
        let mut times = 1;
        self.runs.retain_mut(|runs| {
            runs.nth -= 1;
            if runs.nth == 0 {
                times = runs.times;
            }
            runs.nth > 0
        });
        times
    }

    /// How late a piece of work starts.
    pub(crate) fn delay(&mut self) -> Duration {
        match &mut self.schedule {
            Some(schedule) if !schedule.delay.is_zero() => {
                let longest = u64::try_from(schedule.delay.as_nanos()).unwrap_or(u64::MAX);
                Duration::from_nanos(schedule.random.u64(0..=longest))
            }
            _ => Duration::ZERO,
        }
    }

    /// Which of `count` pieces of work, the oldest first, is done next.
    pub(crate) fn choose(&mut self, count: usize) -> usize {
        match &mut self.schedule {
            Some(schedule) if count > 1 => schedule.random.usize(0..count),
            _ => 0,
        }
    }

    /// Whether a fault is noticed by enqueueing, so many pieces of work after it.
    pub(crate) fn is_noticed_after(&self, enqueued: u64) -> bool {
        self.notice_after.is_some_and(|limit| enqueued > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_call_fails_once() {
        let mut faults = Faults::NONE;
        faults.fail("cuInit", 2, CUresult::CUDA_ERROR_UNKNOWN, When::After);
        assert_eq!(faults.on_call("cuInit"), None);
        assert_eq!(faults.on_call("cuMemAlloc_v2"), None);
        assert_eq!(faults.on_call("cuInit"), Some((CUresult::CUDA_ERROR_UNKNOWN, When::After)));
        assert_eq!(faults.on_call("cuInit"), None);
    }

    #[test]
    fn one_host_function_runs_another_number_of_times() {
        let mut faults = Faults::NONE;
        faults.run_host_function(2, 0);
        faults.run_host_function(3, 5);
        assert_eq!([(); 4].map(|()| faults.on_host_function()), [1, 0, 5, 1]);
    }

    #[test]
    fn a_seed_gives_the_same_order_again() {
        let order = |seed| {
            let mut faults = Faults::NONE;
            faults.schedule(seed, Duration::ZERO);
            [(); 32].map(|()| faults.choose(4))
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
        let mut calm = Faults::NONE;
        assert_eq!([(); 3].map(|()| calm.choose(4)), [0; 3]);
    }
}
