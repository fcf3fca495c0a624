//! Host functions and stream callbacks: one thread calls them all, in order.

use cuda_sys::{CUresult, CUstream};

use crate::abi::{CallbackFn, Handle, HostFn, UserData};
use crate::gate;
use crate::state::{self, lock};
use crate::work::Place;
use crate::worker;

/// One call to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostCall {
    pub(crate) context: Handle,
    /// What waits for it; nothing does after a fault.
    pub(crate) place: Option<Place>,
    pub(crate) call: Call,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Function { function: HostFn, data: UserData },
    Callback { function: CallbackFn, stream: Handle, status: CUresult, data: UserData },
}

impl HostCall {
    /// Callbacks are told of a fault; host functions are never called after one.
    pub(crate) fn is_called_after_fault(&self) -> bool {
        matches!(self.call, Call::Callback { .. })
    }
}

/// The thread's life.
pub(crate) fn run() {
    let mut state = lock();
    loop {
        let Some(mut next) = state.host.pop_front() else {
            state::rest(&mut state);
            continue;
        };
        let fault = state.contexts.get(&next.context).and_then(|context| context.fault);
        let mut times = 1;
        match (&mut next.call, fault) {
            (Call::Function { .. }, Some(_)) => times = 0,
            (Call::Function { .. }, None) => times = state.faults.on_host_function(),
            (Call::Callback { status, .. }, Some(code)) => *status = code,
            (Call::Callback { .. }, None) => {}
        }
        state.host_functions_run += u64::from(times);
        state.outside += 1;
        state.is_in_host_function = true;
        drop(state);
        for _ in 0..times {
            gate::outside(|| next.call.make());
        }
        state = lock();
        state.outside -= 1;
        state.is_in_host_function = false;
        if let Some(place) = next.place {
            worker::host_done(&mut state, place);
        }
        state.changed();
    }
}

impl Call {
    fn make(self) {
        match self {
            // SAFETY: the program gave the function to be called with this pointer.
            Self::Function { function, data } => unsafe { function(data.0) },
            Self::Callback { function, stream, status, data } => {
                let stream: CUstream = stream.pointer();
                // SAFETY: as above.
                unsafe { function(stream, status, data.0) };
            }
        }
    }
}
