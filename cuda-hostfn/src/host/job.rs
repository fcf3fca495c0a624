//! What is run: the forms in which closures and values come.

/// One piece of work with what it owns. It is run at most once, and dropped by an ordinary thread.
pub(super) trait Job: Send + 'static {
    type Output: Send + 'static;

    /// Whether somebody may want the outcome. If not, a panic is reported where it happens.
    const IS_TASK: bool;

    fn run(&mut self) -> Self::Output;
}

/// Fire and forget.
#[derive(Debug)]
pub(super) struct Launch<F>(pub(super) F);

impl<F: FnMut() + Send + 'static> Job for Launch<F> {
    type Output = ();
    const IS_TASK: bool = false;

    fn run(&mut self) {
        (self.0)();
    }
}

/// A task. Its closure is gone once it has run: an `FnOnce` consumes itself.
#[derive(Debug)]
pub(super) struct Once<F>(Option<F>);

impl<F> Once<F> {
    pub(super) fn new(run: F) -> Self {
        Self(Some(run))
    }

    /// The closure, which has not run.
    pub(super) fn into_inner(self) -> F {
        self.0.expect("not run")
    }
}

impl<F, T> Job for Once<F>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    type Output = T;
    const IS_TASK: bool = true;

    fn run(&mut self) -> T {
        let run = self.0.take().expect("run once");
        run()
    }
}

/// A task, and a value that it may use, which outlives it.
#[derive(Debug)]
pub(super) struct With<V, F> {
    value: V,
    run: Once<F>,
}

impl<V, F> With<V, F> {
    pub(super) fn new(value: V, run: F) -> Self {
        Self { value, run: Once::new(run) }
    }

    /// What has not run.
    pub(super) fn into_inner(self) -> (V, F) {
        (self.value, self.run.into_inner())
    }
}

impl<V, F, T> Job for With<V, F>
where
    V: Send + 'static,
    F: FnOnce(&mut V) -> T + Send + 'static,
    T: Send + 'static,
{
    type Output = T;
    const IS_TASK: bool = true;

    fn run(&mut self) -> T {
        let run = self.run.0.take().expect("run once");
        run(&mut self.value)
    }
}

/// A value that is only to be kept.
#[derive(Debug)]
pub(super) struct Retire<V>(pub(super) V);

impl<V: Send + 'static> Job for Retire<V> {
    type Output = ();
    const IS_TASK: bool = false;

    fn run(&mut self) {}
}

/// A job that is too large to stay behind in a record that the driver might keep for ever.
#[derive(Debug)]
pub(super) struct Boxed<J>(pub(super) Box<J>);

impl<J: Job> Job for Boxed<J> {
    type Output = Box<J::Output>;
    const IS_TASK: bool = J::IS_TASK;

    fn run(&mut self) -> Box<J::Output> {
        Box::new(self.0.run())
    }
}
