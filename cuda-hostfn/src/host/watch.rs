//! Looks for lost contexts on behalf of futures, which cannot do so themselves while nobody polls them.

use std::time::Duration;

use parking_lot::Mutex;

use crate::Context;

static WATCHED: Mutex<Watched> = Mutex::new(Watched { contexts: Vec::new(), has_thread: false });

struct Watched {
    contexts: Vec<Context>,
    has_thread: bool,
}

/// Until nothing is outstanding in the context, a thread looks at it every now and then.
pub(super) fn watch(context: &Context) {
    let mut watched = WATCHED.lock();
    if !watched.contexts.iter().any(|other| other.is_same(context)) {
        watched.contexts.push(context.clone());
    }
    if !watched.has_thread {
        let thread = std::thread::Builder::new().name("cuda-hostfn-watcher".into());
        watched.has_thread = thread.spawn(run).is_ok();
    }
}

fn run() {
    let mut pause = Duration::from_millis(1);
    loop {
        std::thread::sleep(pause);
        pause = (2 * pause).min(super::task::LONGEST_PAUSE);
        let contexts = WATCHED.lock().contexts.clone();
        contexts.iter().for_each(Context::give_up_lost);
        let mut watched = WATCHED.lock();
        let idle = watched.contexts.extract_if(.., |context| context.lane().outstanding() == 0).collect::<Vec<_>>();
        watched.has_thread = !watched.contexts.is_empty();
        let is_over = !watched.has_thread;
        drop(watched);
        drop((contexts, idle));
        if is_over {
            return;
        }
    }
}
