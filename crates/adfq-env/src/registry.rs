//! Environments by name: what has to be said to make one ([`EnvSpec`]) and who knows how ([`Registry`]). A registry
//! knows the environments of this crate, those in worker processes (`gym:`, and `atari:` where ALE plays), and those a user registers.

use crate::atari::{self, Emulator};
use crate::bsuite::{self, EXPERIMENTS};
use crate::gym::{self, Gym, Kind};
use crate::minatar::{Asterix, Breakout, Freeway, Game, MinAtar, Seaquest, Settings, SpaceInvaders};
use crate::{Acrobot, CartPole, Env, Envs, Error, MdpEnv, MountainCar, Result, TimeLimit, VecEnv};
use adfq::mdp::{self, DeepSea};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of an environment, as JSON: what `gymnasium.make` takes by keyword.
pub type Args = serde_json::Map<String, serde_json::Value>;

/// What an environment is for. It matters where training sees more ends than there are: on Atari a lost life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Learning from what happens.
    #[default]
    Training,
    /// Measuring what was learned: real ends alone.
    Evaluation,
}

/// Everything that has to be said to make an environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvSpec {
    /// The name, as the [`Registry`] knows it.
    pub name: String,
    /// Arguments. The environments of this crate take none, but for MNIST in [`bsuite`].
    pub args: Args,
    /// Wrappers, the innermost first, as `TimeLimit(max_episode_steps=100)` or `my_module:MyWrapper`. For environments of
    /// Gymnasium alone.
    pub wrappers: Vec<String>,
    /// What for.
    pub purpose: Purpose,
    /// Whether [`Env::render`] will be called: Gymnasium has to know beforehand.
    pub pictures: bool,
}

impl EnvSpec {
    /// For training, without arguments and without pictures.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// Makes environments under a name that a user registered. A function from an [`EnvSpec`] to an [`Env`] is one
/// ([`Registry::register`]); what steps several environments together is a type with this trait.
pub trait Maker: Send + Sync {
    /// One environment.
    fn env(&self, spec: &EnvSpec) -> Result<Box<dyn Env>>;

    /// `count` environments side by side.
    fn envs(&self, spec: &EnvSpec, count: usize) -> Result<Box<dyn Envs>> {
        let envs = (0..count).map(|_| self.env(spec)).collect::<Result<_>>()?;
        Ok(Box::new(VecEnv::new(envs)?.called(&spec.name)))
    }

    /// Whether it puts [`EnvSpec::wrappers`] around what it makes. If not, they are refused.
    fn wraps(&self) -> bool {
        false
    }
}

/// A function that makes an environment.
struct Function<F>(F);

impl<E, F> Maker for Function<F>
where
    E: Env + 'static,
    F: Fn(&EnvSpec) -> Result<E> + Send + Sync,
{
    fn env(&self, spec: &EnvSpec) -> Result<Box<dyn Env>> {
        Ok(Box::new((self.0)(spec)?))
    }
}

/// Makes environments by name. The default knows
///
/// - `cartpole`, `acrobot`, `mountaincar`, or as Gymnasium has them, `CartPole-v1`: with their time limits;
/// - `deepsea-N`, then, if wanted, `-stochastic`, then `-shuffled-SEED`;
/// - `minatar/GAME`, or as the package has them, `MinAtar/SpaceInvaders-v1` with the minimal set of actions, which a
///   name without a version means too, and `-v0` with all six;
/// - `bsuite:EXPERIMENT/NUMBER` for every setting of [`bsuite`]; `bsuite:mnist/0` and its like take the argument `data`;
/// - `mdp/NAME` for each domain of [`adfq::mdp::names`], cut off after 1000 steps;
/// - `gym:ID` for any environment of Gymnasium, in worker processes that run as [`Registry::gym`] says;
/// - `atari:GAME` for the games of Atari, with ROMs from [`Registry::roms`] or `ale-py`. Those that [`atari`] does not play are played by ALE in such a worker.
///
/// [`Registry::register`] adds to them. Names are compared in lower case. A clone is cheap.
///
/// ```
/// use adfq_env::{EnvSpec, Purpose, Registry};
///
/// let registry = Registry::default();
/// let spec = EnvSpec { purpose: Purpose::Evaluation, ..EnvSpec::new("CartPole-v1") };
/// assert_eq!(registry.env(&spec)?.space().actions, 2);
/// assert_eq!(registry.envs(&spec, 4)?.len(), 4);
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    /// How worker processes are run, for the environments that need one.
    pub gym: Gym,
    /// The folder of ROMs for `atari:` games of this process; without one, that of the variable `ADFQ_ROMS`, or of `ale-py`.
    pub roms: Option<PathBuf>,
    registered: Arc<BTreeMap<String, Arc<dyn Maker>>>,
}

impl Registry {
    /// The default, with worker processes run as `gym` says.
    pub fn with_gym(gym: Gym) -> Self {
        Self { gym, ..Self::default() }
    }

    /// Adds an environment under a name. It replaces one registered before, and wins over a built-in one.
    ///
    /// ```
    /// use adfq_env::{CartPole, EnvSpec, Registry, TimeLimit};
    ///
    /// let mut registry = Registry::default();
    /// registry.register("short-cartpole", |spec| {
    ///     let limit = spec.args.get("limit").and_then(|limit| limit.as_u64());
    ///     Ok(TimeLimit::new(CartPole::new(), limit.unwrap_or(50)))
    /// });
    /// assert_eq!(registry.env(&EnvSpec::new("Short-CartPole"))?.space().actions, 2);
    /// assert!(registry.names().contains(&"short-cartpole".to_owned()));
    /// # Ok::<(), adfq_env::Error>(())
    /// ```
    pub fn register<E, F>(&mut self, name: &str, make: F)
    where
        E: Env + 'static,
        F: Fn(&EnvSpec) -> Result<E> + Send + Sync + 'static,
    {
        self.register_maker(name, Function(make));
    }

    /// The same for a [`Maker`], which may make several environments that are stepped together.
    pub fn register_maker(&mut self, name: &str, maker: impl Maker + 'static) {
        Arc::make_mut(&mut self.registered).insert(name.to_lowercase(), Arc::new(maker));
    }

    /// One environment, ready for its first reset.
    pub fn env(&self, spec: &EnvSpec) -> Result<Box<dyn Env>> {
        self.check_wrappers(spec)?;
        match (self.registered(spec), Kind::of(&spec.name)) {
            (Some(maker), _) => maker.env(spec),
            (None, Some(_)) if Emulator::of(spec)? == Some(Emulator::Native) => {
                Ok(Box::new(atari::env(spec, self.roms.as_deref(), &self.gym)?))
            }
            (None, Some((kind, id))) => gym::env(&outside(spec), &self.gym, kind, id),
            (None, None) => self.built_in(spec),
        }
    }

    /// `count` environments side by side.
    pub fn envs(&self, spec: &EnvSpec, count: usize) -> Result<Box<dyn Envs>> {
        self.check_wrappers(spec)?;
        match (self.registered(spec), Kind::of(&spec.name)) {
            (Some(maker), _) => maker.envs(spec, count),
            (None, Some((kind, id))) if Emulator::of(spec)? != Some(Emulator::Native) => {
                gym::envs(&outside(spec), &self.gym, kind, id, count)
            }
            (None, _) => {
                let envs = (0..count).map(|_| self.env(spec)).collect::<Result<_>>()?;
                Ok(Box::new(VecEnv::new(envs)?.called(&spec.name)))
            }
        }
    }

    /// The known names, those that were registered first. A DeepSea may have any size, as in `deepsea-30`; here it has
    /// ten rows. Of each experiment of bsuite that needs no files the first setting is here, of 468 in all.
    pub fn names(&self) -> Vec<String> {
        let registered = self.registered.keys().cloned();
        let classic = CLASSIC.iter().map(|&(name, ..)| name.to_owned());
        let games = GAMES.iter().map(|&(name, _)| name.to_owned());
        let seas = ["deepsea-10", "deepsea-10-stochastic", "deepsea-10-shuffled-1"].map(String::from);
        let finite = mdp::names().into_iter().filter(|name| !name.starts_with("deepsea"));
        let finite = finite.map(|name| format!("mdp/{name}"));
        let own = EXPERIMENTS.iter().filter(|experiment| !experiment.name.starts_with("mnist"));
        let suite = own.map(|experiment| format!("bsuite:{}/0", experiment.name));
        let built_in = classic.chain(games).chain(seas).chain(suite).chain(finite);
        registered.chain(built_in.filter(|name| !self.registered.contains_key(name))).collect()
    }

    /// Whether environments of this name, with these arguments, run in worker processes: they cannot be saved, and each costs a process.
    ///
    /// ```
    /// use adfq_env::{Args, Registry};
    ///
    /// let registry = Registry::default();
    /// let is_outside = |name: &str| registry.is_outside(name, &Args::new());
    /// assert!(is_outside("gym:LunarLander-v3") && is_outside("atari:pacman"));
    /// assert!(!is_outside("atari:pong") && !is_outside("cartpole"));
    /// ```
    pub fn is_outside(&self, name: &str, args: &Args) -> bool {
        let spec = EnvSpec { args: args.clone(), ..EnvSpec::new(name) };
        self.registered(&spec).is_none()
            && Kind::of(name).is_some()
            && !matches!(Emulator::of(&spec), Ok(Some(Emulator::Native)))
    }

    /// The arguments of an environment with what they leave open settled: who plays a game of Atari. A run keeps these, so that it goes on
    /// with the same environment when more becomes possible.
    ///
    /// ```
    /// use adfq_env::{EnvSpec, Registry};
    ///
    /// let settled = |name: &str| Registry::default().settled(&EnvSpec::new(name));
    /// assert_eq!(settled("atari:pong")?["emulator"], "native");
    /// assert!(settled("cartpole")?.is_empty());
    /// # Ok::<(), adfq_env::Error>(())
    /// ```
    pub fn settled(&self, spec: &EnvSpec) -> Result<Args> {
        let mut args = spec.args.clone();
        if self.registered(spec).is_none()
            && let Some(emulator) = Emulator::of(spec)?
        {
            args.insert(Emulator::ARGUMENT.to_owned(), emulator.name().into());
        }
        Ok(args)
    }

    fn check_wrappers(&self, spec: &EnvSpec) -> Result<()> {
        let wraps = match self.registered(spec) {
            Some(maker) => maker.wraps(),
            None => matches!(Kind::of(&spec.name), Some((Kind::Gym, _))),
        };
        match spec.wrappers.first() {
            Some(wrapper) if !wraps => {
                Err(Error::NoWrappers { env: spec.name.clone(), wrapper: wrapper.clone() })
            }
            _ => Ok(()),
        }
    }

    fn registered(&self, spec: &EnvSpec) -> Option<&Arc<dyn Maker>> {
        self.registered.get(&spec.name.to_lowercase())
    }

    /// An environment of this crate.
    fn built_in(&self, spec: &EnvSpec) -> Result<Box<dyn Env>> {
        let name = spec.name.to_lowercase();
        if let Some(env) = bsuite::named(&name, spec) {
            return env.map(|env| env as _);
        }
        let Some(env) = built_in(&name) else { return Err(self.unknown(&spec.name)) };
        match spec.args.keys().next() {
            Some(arg) => Err(Error::Argument { env: spec.name.clone(), arg: arg.clone() }),
            None => env,
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let mut known = self.names();
        let closest = mdp::closest(name, &known);
        // One word for its many names.
        known.retain(|name| !name.starts_with("bsuite:"));
        known.push("bsuite:EXPERIMENT/NUMBER".to_owned());
        Error::Name { name: name.to_owned(), closest, known: known.join(", ") }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("names", &self.names()).field("gym", &self.gym).finish()
    }
}

/// What a worker is asked for: all but who it is.
fn outside(spec: &EnvSpec) -> EnvSpec {
    let mut spec = spec.clone();
    if matches!(Kind::of(&spec.name), Some((Kind::Atari, _))) {
        spec.args.remove(Emulator::ARGUMENT);
    }
    spec
}

/// The names that [`make`] knows: [`Registry::names`] of the default registry.
///
/// ```
/// for name in adfq_env::names() {
///     assert!(adfq_env::make(&name).is_ok(), "{name}");
/// }
/// ```
pub fn names() -> Vec<String> {
    Registry::default().names()
}

/// The environment with this name, for training: [`Registry::env`] of the default registry.
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
    Registry::default().env(&EnvSpec::new(name))
}

/// The name without its version, Gymnasium's version, and how to make what it stands for.
type Classic = (&'static str, &'static str, fn() -> Box<dyn Env>);

/// With the time limits of Gymnasium's registrations.
const CLASSIC: [Classic; 3] = [
    ("cartpole", "-v1", || Box::new(TimeLimit::new(CartPole::new(), 500))),
    ("acrobot", "-v1", || Box::new(TimeLimit::new(Acrobot::new(), 500))),
    ("mountaincar", "-v0", || Box::new(TimeLimit::new(MountainCar::new(), 200))),
];

/// A MinAtar game with its minimal set of actions (`true`, version 1) or all six (version 0); sticky actions of
/// probability .1 and difficulty ramping in both, which is what the package registers.
type MakeGame = fn(bool) -> Result<Box<dyn Env>>;

const GAMES: [(&str, MakeGame); 5] = [
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
pub(crate) const MDP_LIMIT: u64 = 1000;

/// The environment of this crate with this name in lower case.
fn built_in(name: &str) -> Option<Result<Box<dyn Env>>> {
    let named = |&&(known, version, _): &&Classic| name == known || name.strip_prefix(known) == Some(version);
    if let Some((.., make)) = CLASSIC.iter().find(named) {
        return Some(Ok(make()));
    }
    if let Some((game, minimal)) = minatar(name) {
        return GAMES.iter().find(|(known, _)| *known == game).map(|(_, make)| make(minimal));
    }
    if let Some(sea) = deep_sea(name) {
        return Some(MdpEnv::deep_sea(&sea).map(|env| Box::new(env) as _));
    }
    let model = name.strip_prefix("mdp/").filter(|&model| mdp::names().iter().any(|name| name == model))?;
    let limited = |model| Box::new(TimeLimit::new(MdpEnv::new(model), MDP_LIMIT)) as _;
    Some(mdp::named(model).map(limited).map_err(Error::from))
}

/// The game that a name in lower case means, in our spelling, and whether with its minimal set of actions.
pub(crate) fn minatar(name: &str) -> Option<(String, bool)> {
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
pub(crate) fn deep_sea(name: &str) -> Option<DeepSea> {
    let rest = name.strip_prefix("deepsea-")?;
    let (rest, shuffle) = match rest.split_once("-shuffled-") {
        Some((rest, seed)) => (rest, Some(seed.parse().ok()?)),
        None => (rest, None),
    };
    let size = rest.strip_suffix("-stochastic");
    let stochastic = size.is_some();
    Some(DeepSea { size: size.unwrap_or(rest).parse().ok()?, stochastic, shuffle, ..DeepSea::default() })
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
        for (typed, meant) in [
            ("cart-pole", "cartpole"),
            ("Acrobat", "acrobot"),
            ("deepsea", "deepsea-10"),
            ("Asterix", "minatar/asterix"),
            ("minatar/seaqest", "minatar/seaquest"),
        ] {
            let error = make(typed).err().unwrap().to_string();
            assert!(error.contains(&format!("did you mean {meant:?}?")), "{error}");
        }
        for typed in ["lunarlander", "snake", "pong"] {
            let error = make(typed).err().unwrap().to_string();
            assert!(error.contains(&format!("{typed:?}; known names: ")), "{error}");
        }
    }
}
