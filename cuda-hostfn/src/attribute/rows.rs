//! What a row of the table becomes.

/// The rows as types, impls, documentation and data. It expands in `table`, which has the imports.
macro_rules! attributes {
    ($(
        $(#[doc = $summary:literal])+
        $id:literal $name:literal $type:ident $(<$lifetime:lifetime>)?, since ($major:literal, $minor:literal),
        set [$($set:ident)*], get [$($get:ident)*], $evidence:ident $(, $note:literal)?;
    )*) => {
        /// Every attribute of the headers up to CUDA 13.5, by number.
        pub const CATALOGUE: &[Entry] = &[$(Entry {
            id: $id,
            name: $name,
            type_name: stringify!($type),
            set: Places::of(&[$(Name::$set),*]),
            get: Places::of(&[$(Name::$get),*]),
            since: CudaVersion::new($major, $minor),
            evidence: Evidence::$evidence,
            note: concat!($($note)?),
        }),*];

        $(
            $(#[doc = $summary])+
            ///
            #[doc = concat!("`", $name, "` (", $id, "), since CUDA ", $major, ".", $minor, ".")]
            #[doc = listed!("Set on" $($set)*)]
            #[doc = listed!("Read from" $($get)*)]
            $(
                ///
                #[doc = $note]
            )?
            ///
            #[doc(alias = $name)]
            #[doc(inline)]
            pub use super::values::$type;

            // SAFETY: `Value` says that the bytes are good for the attribute that the type is named after.
            unsafe impl $(<$lifetime>)? Attribute for $type $(<$lifetime>)? {
                #[inline]
                fn id(&self) -> u32 {
                    $id
                }

                #[inline]
                fn encode(&self) -> AttributeValue {
                    Value::encode(self)
                }

                #[inline]
                fn check(&self, rules: &mut Rules<'_>) -> Result<()> {
                    Value::check(self, rules)
                }
            }

            valid_for!([$($lifetime)?] $type [$($set)*]);

            impl $(<$lifetime>)? Known for $type $(<$lifetime>)? {
                const ID: u32 = $id;
            }

            $(impl ReadableFrom<place::$get> for $type {
                const ID: u32 = $id;

                #[inline]
                fn decode(value: &AttributeValue) -> Result<Self> {
                    Decode::decode(value)
                }
            })*
        )*
    };
}

/// `Set on Streams, Nodes.`, with links.
macro_rules! listed {
    ($what:literal) => { concat!($what, " nothing.") };
    ($what:literal $first:ident $($more:ident)*) => {
        concat!(
            $what, " [", stringify!($first), "](place::", stringify!($first), ")",
            $(", [", stringify!($more), "](place::", stringify!($more), ")",)*
            ".",
        )
    };
}

/// The places where a type can be set, as an impl for the trait that stands for them.
macro_rules! valid_for {
    ([$($lifetime:lifetime)?] $type:ident [Streams]) => {
        impl<$($lifetime,)? P: place::OfStreams> ValidFor<P> for $type $(<$lifetime>)? {}
    };
    ([$($lifetime:lifetime)?] $type:ident [Launches]) => {
        impl<$($lifetime,)? P: place::OfLaunches> ValidFor<P> for $type $(<$lifetime>)? {}
    };
    ([$($lifetime:lifetime)?] $type:ident [Launches Nodes]) => {
        impl<$($lifetime,)? P: place::OfLaunchesAndNodes> ValidFor<P> for $type $(<$lifetime>)? {}
    };
    ([$($lifetime:lifetime)?] $type:ident [Streams Launches Nodes]) => {
        impl<$($lifetime,)? P: place::Place> ValidFor<P> for $type $(<$lifetime>)? {}
    };
}

pub(super) use {attributes, listed, valid_for};
