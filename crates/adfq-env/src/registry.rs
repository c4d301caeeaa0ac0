//! The environments by name, for programs and configuration files.

use crate::minatar::{Asterix, Breakout, Freeway, Game, MinAtar, Seaquest, Settings, SpaceInvaders};
use crate::{Acrobot, CartPole, Env, Error, Maker, MdpEnv, MountainCar, Result, TimeLimit};
use adfq::mdp::{self, DeepSea};

/// The name without its version, Gymnasium's version, and how to make what it stands for.
type Entry = (&'static str, &'static str, fn() -> Box<dyn Env>);

/// With the time limits of Gymnasium's registrations.
const CLASSIC: [Entry; 3] = [
    ("cartpole", "-v1", || Box::new(TimeLimit::new(CartPole::new(), 500))),
    ("acrobot", "-v1", || Box::new(TimeLimit::new(Acrobot::new(), 500))),
    ("mountaincar", "-v0", || Box::new(TimeLimit::new(MountainCar::new(), 200))),
];

/// A MinAtar game with its minimal set of actions (`true`, version 1) or all six (version 0); sticky actions of
/// probability .1 and difficulty ramping in both, which is what the package registers.
type Entrance = (&'static str, fn(bool) -> Result<Box<dyn Env>>);

const GAMES: [Entrance; 5] = [
    ("minatar/asterix", game::<Asterix>),
    ("minatar/breakout", game::<Breakout>),
    ("minatar/freeway", game::<Freeway>),
    ("minatar/seaquest", game::<Seaquest>),
    ("minatar/space-invaders", game::<SpaceInvaders>),
];

fn game<G: Game + 'static>(minimal_actions: bool) -> Result<Box<dyn Env>> {
    Ok(Box::new(MinAtar::<G>::new(Settings { minimal_actions, ..Settings::default() })?))
}

/// Episodes of the finite MDPs without an end of their own are cut off, so that there are returns to report.
const MDP_LIMIT: u64 = 1000;

/// The names that [`make`] knows. A DeepSea may have any size, as in `deepsea-30`; here it has ten rows.
///
/// ```
/// for name in adfq_env::names() {
///     assert!(adfq_env::make(&name).is_ok(), "{name}");
/// }
/// ```
pub fn names() -> Vec<String> {
    let classic = CLASSIC.iter().map(|&(name, ..)| name.to_owned());
    let games = GAMES.iter().map(|&(name, _)| name.to_owned());
    let seas = ["deepsea-10", "deepsea-10-stochastic", "deepsea-10-shuffled-1"].map(String::from);
    let finite = mdp::names().into_iter().filter(|name| !name.starts_with("deepsea"));
    classic.chain(games).chain(seas).chain(finite.map(|name| format!("mdp/{name}"))).collect()
}

/// The environment with this name, in upper or lower case, ready for its first reset.
///
/// - `cartpole`, `acrobot`, `mountaincar`, or as Gymnasium has them, `CartPole-v1`: with their time limits.
/// - `deepsea-N`, then, if wanted, `-stochastic`, then `-shuffled-SEED`.
/// - `minatar/GAME`, or as the package has them, `MinAtar/SpaceInvaders-v1` with the minimal set of actions, which a
///   name without a version means too, and `-v0` with all six.
/// - `mdp/NAME` for each domain of [`adfq::mdp::names`], cut off after 1000 steps.
///
/// ```
/// use adfq_env::make;
///
/// assert_eq!(make("CartPole-v1")?.space().actions, 2);
/// assert_eq!(make("deepsea-20")?.space().frame, [20, 20, 1]);
/// let error = make("mountain-car").err().unwrap().to_string();
/// assert!(error.contains("did you mean \"mountaincar\"? Known names: cartpole, acrobot,"), "{error}");
/// # Ok::<(), adfq_env::Error>(())
/// ```
pub fn make(name: &str) -> Result<Box<dyn Env>> {
    Maker::new(name).env()
}

/// An environment of this crate.
pub(crate) fn make_own(name: &str) -> Result<Box<dyn Env>> {
    let wanted = name.to_lowercase();
    for (known, version, make) in CLASSIC {
        if wanted.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest == version) {
            return Ok(make());
        }
    }
    if let Some((game, minimal)) = minatar(&wanted)
        && let Some((_, make)) = GAMES.iter().find(|(known, _)| *known == game)
    {
        return make(minimal);
    }
    if let Some(sea) = deep_sea(&wanted) {
        return Ok(Box::new(MdpEnv::deep_sea(&sea)?));
    }
    if let Some(model) =
        wanted.strip_prefix("mdp/").filter(|model| mdp::names().iter().any(|name| name == model))
    {
        return Ok(Box::new(TimeLimit::new(MdpEnv::new(mdp::named(model)?), MDP_LIMIT)));
    }
    Err(unknown(name))
}

/// The game that a name in lower case means, in our spelling, and whether with its minimal set of actions.
fn minatar(name: &str) -> Option<(String, bool)> {
    let game = name.strip_prefix("minatar/")?;
    let (game, minimal) = match game.strip_suffix("-v0") {
        Some(game) => (game, false),
        None => (game.strip_suffix("-v1").unwrap_or(game), true),
    };
    let game = match game {
        "spaceinvaders" | "space_invaders" => "space-invaders",
        game => game,
    };
    Some((format!("minatar/{game}"), minimal))
}

/// The DeepSea that a name in lower case means.
fn deep_sea(name: &str) -> Option<DeepSea> {
    let rest = name.strip_prefix("deepsea-")?;
    let (rest, shuffle) = match rest.split_once("-shuffled-") {
        Some((rest, seed)) => (rest, Some(seed.parse().ok()?)),
        None => (rest, None),
    };
    let size = rest.strip_suffix("-stochastic");
    let stochastic = size.is_some();
    Some(DeepSea { size: size.unwrap_or(rest).parse().ok()?, stochastic, shuffle, ..DeepSea::default() })
}

fn unknown(name: &str) -> Error {
    let (known, wanted) = (names(), name.to_lowercase());
    let closest = mdp::closest(&wanted, &known);
    Error::Name { name: name.to_owned(), closest, known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for name in
            ["CartPole-v1", "cartpole", "CARTPOLE", "Acrobot-v1", "MountainCar-v0", "DeepSea-7", "mdp/Loop"]
        {
            assert!(make(name).is_ok(), "{name}");
        }
        for name in
            ["", "cartpole-v7", "cartpole2", "deepsea-", "deepsea-x", "deepsea-3-shuffled-", "mdp/", "mdp/x"]
        {
            assert!(matches!(make(name), Err(Error::Name { .. })), "{name}");
        }
        let error = make("deepsea-0").err().unwrap().to_string();
        assert_eq!(error, "deepsea: size must be from 1 to 10000, but it is 0");
    }

    #[test]
    fn versions_of_games() {
        for (name, game, minimal) in [
            ("minatar/breakout", "minatar/breakout", true),
            ("minatar/breakout-v1", "minatar/breakout", true),
            ("minatar/breakout-v0", "minatar/breakout", false),
            ("minatar/spaceinvaders-v1", "minatar/space-invaders", true),
            ("minatar/space_invaders", "minatar/space-invaders", true),
        ] {
            assert_eq!(minatar(name), Some((game.to_owned(), minimal)));
        }
        assert_eq!(minatar("breakout"), None);
    }

    #[test]
    fn parts_of_a_sea() {
        let sea = DeepSea { size: 12, stochastic: true, shuffle: Some(5), ..DeepSea::default() };
        assert_eq!(deep_sea("deepsea-12-stochastic-shuffled-5"), Some(sea));
    }

    #[test]
    fn suggests_the_closest_name() {
        for (typed, meant) in [("cart-pole", "cartpole"), ("Acrobat", "acrobot"), ("deepsea", "deepsea-10")] {
            let error = make(typed).err().unwrap().to_string();
            assert!(error.contains(&format!("did you mean {meant:?}?")), "{error}");
        }
    }
}
