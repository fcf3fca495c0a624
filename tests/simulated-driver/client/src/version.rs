//! The CUDA versions that can be simulated.

/// A version of the driver API. Its `Display` is the usual `13.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(i32);

impl Version {
    /// That of NVIDIA driver 470.
    pub const V11_4: Self = Self(11040);
    /// That of NVIDIA driver 535. Has no `cuStreamGetCaptureInfo_v3`.
    pub const V12_2: Self = Self(12020);
    /// That of NVIDIA driver 550.
    pub const V12_4: Self = Self(12040);
    /// That of NVIDIA driver 580, which the recorded machine has.
    pub const V13_0: Self = Self(13000);
    /// Has `cuLaunchHostFunc_v2`.
    pub const V13_2: Self = Self(13020);

    /// All that can be simulated.
    pub const ALL: [Self; 5] = [Self::V11_4, Self::V12_2, Self::V12_4, Self::V13_0, Self::V13_2];

    /// As `cuDriverGetVersion` gives it, such as 13000.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0
    }
}

impl Default for Version {
    /// The recorded machine's.
    fn default() -> Self {
        Self::V13_0
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

impl std::str::FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|version| version.to_string() == text);
        known.ok_or_else(|| {
            format!("no driver of CUDA {text} is simulated; there are {}", Self::ALL.map(|v| v.to_string()).join(", "))
        })
    }
}
