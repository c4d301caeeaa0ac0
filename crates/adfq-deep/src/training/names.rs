//! Names of run folders: they show what a run is, and which settings were changed.

use crate::Config;
use crate::replay::Digest;
use std::collections::BTreeMap;

/// What settings may take of a name; a file system allows 255 bytes for all of it.
const MOST: usize = 120;

/// A name for the folder of a run in which these settings were changed: `cartpole-adfq-thompson-0` without any, or
/// `cartpole-adfq-thompson-learning.discount=0.9-0`. Their order does not matter. Of many settings the name holds the first
/// and a digest of all.
///
/// ```
/// use adfq_deep::Config;
/// use adfq_deep::training::folder_name;
///
/// let config = Config::for_env("cartpole")?;
/// let settings = ["learning.target={hard = 500}".to_owned(), "adfq.rule=\"exact\"".to_owned(), "seed=0".to_owned()];
/// assert_eq!(folder_name(&config, &settings), "cartpole-adfq-thompson-adfq.rule=exact-learning.target=hard=500-0");
/// # Ok::<(), adfq_deep::Error>(())
/// ```
pub fn folder_name(config: &Config, settings: &[String]) -> String {
    let env = config.env.to_lowercase().replace(['/', ':'], "-");
    let Config { agent, policy, seed, .. } = config;
    format!("{env}-{agent}-{policy}{}-{seed}", changed(settings))
}

/// `-name=value` for each setting that the rest of the name does not show.
fn changed(settings: &[String]) -> String {
    let assignments = settings.iter().filter_map(|setting| setting.split_once('='));
    // Of several for one setting the last one counts.
    let last: BTreeMap<&str, &str> = assignments.map(|(name, value)| (name.trim(), value.trim())).collect();
    let shown = |name: &str| ["env", "agent", "policy", "seed"].contains(&name);
    let parts = last.iter().filter(|(name, _)| !shown(name));
    let all: String = parts.map(|(name, value)| format!("-{name}={}", plain(value))).collect();
    if all.len() <= MOST {
        return all;
    }
    let mut digest = Digest::default();
    digest.bytes(all.as_bytes());
    let end = (0..=MOST).rev().find(|&at| all.is_char_boundary(at)).unwrap_or(0);
    format!("{}-{:08x}", &all[..end], digest.end() as u32)
}

/// A value with nothing in it that a shell or a file system takes for something else.
fn plain(value: &str) -> String {
    let kept = value.chars().filter(|char| !"{}[]()'\" ".contains(*char));
    kept.map(|char| if char.is_alphanumeric() || "._=+,-".contains(char) { char } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(settings: &[&str]) -> String {
        let config = Config::for_env("minatar/breakout").unwrap();
        folder_name(&config, &settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_show_what_differs_whatever_the_order() {
        assert_eq!(name(&[]), "minatar-breakout-adfq-thompson-0");
        let both = ["steps=100", "learning.discount=0.9"];
        assert_eq!(name(&both), "minatar-breakout-adfq-thompson-learning.discount=0.9-steps=100-0");
        assert_eq!(name(&both), name(&["learning.discount=0.9", "steps=7", "steps = 100"]));
        assert_eq!(name(&["a=../x/$HOME;`"]), "minatar-breakout-adfq-thompson-a=..-x--HOME---0");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = |last: &str| name(&[&format!("a=\"{}\"", "ä".repeat(200)), last]);
        assert!(long("b=1").len() < 200 && long("b=1") != long("b=2"));
    }
}
