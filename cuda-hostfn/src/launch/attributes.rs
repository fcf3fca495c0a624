//! Lists of attributes, composed by type.

use crate::Result;
use crate::attribute::{Lowered, Rules, ValidFor, place};

/// What a launch can have: an attribute that is [`ValidFor`] launches, or an `Option` of one.
///
/// ```compile_fail,E0277
/// use cuda_hostfn::{LaunchConfig, attribute::SynchronizationPolicy};
/// // A stream's: `stream.set_attribute(SynchronizationPolicy::Spin)`.
/// LaunchConfig::new(1, 1).attribute(SynchronizationPolicy::Spin);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be set on a launch",
    label = "not an attribute of launches",
    note = "a launch takes the attributes that implement `ValidFor<place::Launches>`, and an `Option` of one"
)]
pub trait LaunchAttribute: Copy + sealed::Element {}

/// The attributes of a [`LaunchConfig`](super::LaunchConfig), as a type.
pub trait Attributes: sealed::List {}

impl<A: ValidFor<place::Launches>> LaunchAttribute for A {}
impl<A: ValidFor<place::Launches>> LaunchAttribute for Option<A> {}

impl Attributes for () {}
impl<L: Attributes, A: LaunchAttribute> Attributes for (L, A) {}

mod sealed {
    use super::{Lowered, Result, Rules, ValidFor, place};

    pub trait Element {
        fn lower(&self, lowered: &mut Lowered, rules: &mut Rules<'_>) -> Result<()>;
    }

    impl<A: ValidFor<place::Launches>> Element for A {
        fn lower(&self, lowered: &mut Lowered, rules: &mut Rules<'_>) -> Result<()> {
            self.check(rules)?;
            lowered.set(self.id(), self.encode());
            Ok(())
        }
    }

    impl<A: ValidFor<place::Launches>> Element for Option<A> {
        fn lower(&self, lowered: &mut Lowered, rules: &mut Rules<'_>) -> Result<()> {
            self.as_ref().map_or(Ok(()), |attribute| Element::lower(attribute, lowered, rules))
        }
    }

    pub trait List {
        /// The most attributes that the list can have.
        const COUNT: usize;

        fn lower(&self, lowered: &mut Lowered, rules: &mut Rules<'_>) -> Result<()>;
    }

    impl List for () {
        const COUNT: usize = 0;

        fn lower(&self, _: &mut Lowered, _: &mut Rules<'_>) -> Result<()> {
            Ok(())
        }
    }

    impl<L: List, A: Element> List for (L, A) {
        const COUNT: usize = L::COUNT + 1;

        fn lower(&self, lowered: &mut Lowered, rules: &mut Rules<'_>) -> Result<()> {
            self.0.lower(lowered, rules)?;
            self.1.lower(lowered, rules)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::{Attribute, ClusterDimension, Cooperative, RawAttribute};
    use crate::{Context, Error, LaunchConfig, Priority};

    fn lower<L: Attributes>(config: &LaunchConfig<L>) -> Result<Lowered> {
        let context = Context::fake();
        let (mut lowered, mut rules) = (Lowered::new(), Rules::new(&context));
        config.attributes.lower(&mut lowered, &mut rules)?;
        rules.finish(config.grid(), || None)?;
        Ok(lowered)
    }

    fn count<L: Attributes>(_: &LaunchConfig<L>) -> usize {
        L::COUNT
    }

    #[test]
    fn presence_counts() {
        let without = LaunchConfig::new(1, 1).attribute(Cooperative(true)).attribute(None::<Priority>);
        let lowered = lower(&without).unwrap();
        assert_eq!((lowered.len(), count(&without)), (1, 2));
        assert_eq!(lowered.get(8), None);

        let lowered = lower(&LaunchConfig::new(1, 1).attribute(Some(Priority::DEFAULT))).unwrap();
        assert_eq!(lowered.get(8), Some(Priority::DEFAULT.encode()));
    }

    #[test]
    fn all_are_passed_on_and_the_last_of_a_kind_counts() {
        let urgent = Priority::from_raw(-5);
        let config =
            LaunchConfig::new(1, 1).attribute(Priority::DEFAULT).attribute(Cooperative(false)).attribute(urgent);
        let lowered = lower(&config).unwrap();
        assert_eq!(lowered.len(), 2);
        assert_eq!(lowered.get(8), Some(urgent.encode()));
    }

    #[test]
    fn rules_hold_before_the_driver() {
        let refused = |result: Result<Lowered>| match result {
            Err(Error::Invalid(error)) => error.field(),
            _ => "nothing",
        };
        assert_eq!(refused(lower(&LaunchConfig::new(1, 1).attribute(Priority::from_raw(-6)))), "Priority");
        let pairs = ClusterDimension::new(2, 1, 1).unwrap();
        assert_eq!(refused(lower(&LaunchConfig::new(15, 1).attribute(pairs))), "grid");
        // The last one counts, also when it is none.
        assert!(lower(&LaunchConfig::new(15, 1).attribute(pairs).attribute(ClusterDimension::NONE)).is_ok());
        // SAFETY: it goes to no driver.
        let raw = unsafe { RawAttribute::new(4, pairs.encode()) };
        assert!(lower(&LaunchConfig::new(15, 1).attribute(raw)).is_ok());
        // Beside one that this crate judges, a raw one leaves both to the driver.
        assert!(lower(&LaunchConfig::new(15, 1).attribute(pairs).attribute(raw)).is_ok());
    }
}
