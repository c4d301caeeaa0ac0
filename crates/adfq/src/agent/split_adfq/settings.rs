//! What Split ADFQ can be told, and the variants that show what each part is good for.

use crate::Result;
use crate::agent::table::setting;
use serde::{Deserialize, Serialize};

/// Whose uncertainty a state hands on to the pairs that lead there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Heir {
    /// That of the action with the largest mean, alone.
    Greedy,
    /// That of the maximum: the greedy action's, and what another action may bring on top. See
    /// [`maximum`](crate::update::split::maximum).
    #[default]
    Maximum,
}

/// What Split ADFQ can be told. The default is one setting for all tasks; the switches turn its parts off one by one.
///
/// ```
/// use adfq::agent::SplitSettings;
///
/// let slow = SplitSettings { sweeps: 0, ..SplitSettings::default() };
/// assert_eq!(SplitSettings::variant("no sweeps"), Some(slow));
/// assert_eq!(SplitSettings::variant("no luck"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SplitSettings {
    /// How many more pairs are looked up after each step.
    pub sweeps: u32,
    /// Whether the echo ρ enters the variance; without it an error that returns counts once.
    pub echo: bool,
    /// Whose uncertainty a state hands on.
    pub heir: Heir,
    /// The noise variance expected before anything is seen, as a share of the prior variance.
    pub noise: f64,
    /// Whether the noise expected of a pair is learned from all others.
    pub learn_noise: bool,
    /// Whether the prior mean is learned from the values found so far.
    pub learn_mean: bool,
    /// Whether the prior variance is learned from the spread of the values found so far.
    pub learn_spread: bool,
    /// How many sd of luck a hopeful value assumes.
    pub reach: f64,
}

impl Default for SplitSettings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl SplitSettings {
    const DEFAULT: Self = Self {
        sweeps: 10,
        echo: true,
        heir: Heir::Maximum,
        noise: 0.003,
        learn_noise: true,
        learn_mean: true,
        learn_spread: true,
        reach: 2.0,
    };

    /// The default, and what is left of it without each of its parts, by name: the rows of the ablation table.
    pub const VARIANTS: [(&str, Self); 9] = {
        let full = Self::DEFAULT;
        [
            ("full", full),
            ("no sweeps", Self { sweeps: 0, ..full }),
            ("no echo", Self { echo: false, ..full }),
            ("greedy heir", Self { heir: Heir::Greedy, ..full }),
            ("declared noise", Self { learn_noise: false, ..full }),
            ("declared mean", Self { learn_mean: false, ..full }),
            ("declared spread", Self { learn_spread: false, ..full }),
            ("three sd", Self { reach: 3.0, ..full }),
            (
                "memory alone",
                Self {
                    sweeps: 0,
                    echo: false,
                    heir: Heir::Greedy,
                    learn_mean: false,
                    learn_spread: false,
                    ..full
                },
            ),
        ]
    };

    /// The variant of this name.
    pub fn variant(name: &str) -> Option<Self> {
        Self::VARIANTS.iter().find(|(known, _)| *known == name).map(|&(_, settings)| settings)
    }

    pub(super) fn checked(self) -> Result<Self> {
        setting("noise", self.noise, self.noise > 0.0 && self.noise.is_finite(), "positive and finite")?;
        setting("reach", self.reach, self.reach >= 0.0 && self.reach.is_finite(), "finite and not negative")?;
        Ok(self)
    }
}
