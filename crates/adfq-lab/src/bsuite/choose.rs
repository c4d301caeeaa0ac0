//! Which settings to run, from the words that people type.

use super::scores::TAGS;
use crate::{Error, Result};
use adfq::mdp::closest;
use adfq_env::bsuite::{EXPERIMENTS, Experiment, Setting, setting};

/// The settings that these words choose, in bsuite's order: an ability (`exploration`), an experiment (`deep_sea`) or an id
/// (`deep_sea/3`). Without words, all of them.
///
/// ```
/// use adfq_lab::bsuite::choose;
///
/// assert_eq!(choose(&[])?.len(), 468);
/// assert_eq!(choose(&["memory".into(), "catch/3".into()])?.len(), 23 + 17 + 1);
/// let error = choose(&["exploraton".into()]).unwrap_err();
/// assert!(error.to_string().starts_with("nothing is called \"exploraton\"; did you mean \"exploration\"?"));
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn choose(words: &[String]) -> Result<Vec<Setting>> {
    for word in words {
        if !EXPERIMENTS.iter().any(|experiment| names(word, experiment)) && setting(word).is_none() {
            return Err(unknown(word));
        }
    }
    let is_chosen = |it: &Setting| {
        words.is_empty() || words.iter().any(|word| names(word, it.experiment) || *word == it.id())
    };
    Ok(adfq_env::bsuite::settings().filter(is_chosen).collect())
}

/// One setting of each experiment: the one in the middle of those given. Where settings grow, it is of medium size.
///
/// ```
/// use adfq_lab::bsuite::{choose, quick};
///
/// let ids: Vec<String> = quick(choose(&["exploration".into()])?).iter().map(|setting| setting.id()).collect();
/// assert_eq!(ids, ["cartpole_swingup/10", "deep_sea/10", "deep_sea_stochastic/10"]);
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn quick(settings: Vec<Setting>) -> Vec<Setting> {
    let of_one = |a: &Setting, b: &Setting| a.experiment.name == b.experiment.name;
    settings.chunk_by(of_one).map(|of_one| of_one[of_one.len() / 2]).collect()
}

/// Whether a word names this experiment or an ability that it tests.
fn names(word: &str, experiment: &Experiment) -> bool {
    experiment.name == word || experiment.tags.contains(&word)
}

fn unknown(word: &str) -> Error {
    let (typed, number) = word.split_once('/').unwrap_or((word, ""));
    if let Some(experiment) = EXPERIMENTS.iter().find(|experiment| experiment.name == typed) {
        let known = format!("{typed}/0 to {typed}/{}", experiment.settings - 1);
        return Error::NoSetting { word: word.to_owned(), closest: String::new(), known };
    }
    let experiments = EXPERIMENTS.iter().map(|experiment| experiment.name);
    let names: Vec<String> = TAGS.into_iter().chain(experiments).map(str::to_owned).collect();
    let mut closest = closest(typed, &names);
    if setting(&format!("{closest}/{number}")).is_some() {
        closest = format!("{closest}/{number}");
    }
    Error::NoSetting { word: word.to_owned(), closest, known: names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_told_what_is_known() {
        let said = |word: &str| choose(&[word.to_owned()]).unwrap_err().to_string();
        let range = "nothing is called \"deep_sea/21\"; known names: deep_sea/0 to deep_sea/20";
        assert_eq!(said("deep_sea/21"), range);
        assert!(said("deepsea/3").contains("did you mean \"deep_sea/3\"? Known names: basic, "));
        assert!(said("zzzzzz").contains("; known names: basic, "));
    }

    #[test]
    fn words_that_overlap_choose_once() {
        let words = ["catch".to_owned(), "catch/3".to_owned(), "basic".to_owned()];
        assert_eq!(choose(&words).unwrap().len(), 100);
        assert_eq!(quick(choose(&[]).unwrap()).len(), 23);
    }
}
