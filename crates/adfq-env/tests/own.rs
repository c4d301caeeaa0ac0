//! Environments that are not of this crate: three methods, a name, and all else by default.

use adfq_env::{
    Args, CartPole, Env, EnvSpec, Envs, Error, Maker, Registry, Result, Space, Step, TimeLimit, VecEnv,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Walk right along five cells; the last one pays.
struct Corridor {
    space: Space,
    cell: u8,
}

impl Corridor {
    fn new() -> Self {
        Self { space: Space::flat(1, 2), cell: 0 }
    }
}

impl Env for Corridor {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, _: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.cell = 0;
        self.space.write(&[0.0], frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.cell = if action == 1 { self.cell + 1 } else { self.cell.saturating_sub(1) };
        let terminated = self.cell == 4;
        self.space.write(&[f32::from(self.cell)], frame)?;
        Ok(Step { reward: f64::from(u8::from(terminated)), terminated, ..Step::default() })
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.register("Corridor", |_: &EnvSpec| Ok(Corridor::new()));
    registry
}

/// Two cells, and something that is not finite on the way.
struct Flawed {
    space: Space,
    /// The frames of reset and of both steps, and the reward of the first.
    frames: [f32; 3],
    reward: f64,
    cell: usize,
}

impl Env for Flawed {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, _: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.cell = 0;
        self.space.write(&self.frames[..1], frame)
    }

    fn step(&mut self, _: usize, frame: &mut [u8]) -> Result<Step> {
        self.cell += 1;
        self.space.write(&self.frames[self.cell..][..1], frame)?;
        Ok(Step { reward: self.reward, terminated: self.cell == 2, ..Step::default() })
    }
}

#[test]
fn what_they_give_is_checked() {
    let said = |frames: [f32; 3], reward: f64| {
        let mut registry = Registry::default();
        registry.register("flawed", move |_: &EnvSpec| {
            Ok(Flawed { space: Space::flat(1, 2), frames, reward, cell: 0 })
        });
        let mut envs = registry.envs(&EnvSpec::new("flawed"), 2).unwrap();
        let played = envs.reset(0).and_then(|()| (0..4).try_for_each(|_| envs.step(&[0, 1]).map(|_| ())));
        played.err().map(|error| error.to_string())
    };
    assert_eq!(said([0.0, 1.0, 2.0], 1.0), None);
    let line =
        "flawed gave an observation that is not finite (environment 0): mend the environment, or wrap it";
    for place in 0..3 {
        for flaw in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut frames = [0.0, 1.0, 2.0];
            frames[place] = flaw;
            assert_eq!(said(frames, 1.0).as_deref(), Some(line), "{place}");
        }
    }
    for reward in [f64::NAN, f64::INFINITY, 1e39] {
        let error = said([0.0; 3], reward).unwrap();
        assert!(error.starts_with("flawed gave the reward ") && error.contains("(environment 0)"), "{error}");
    }
}

#[test]
fn three_methods_are_enough() {
    let mut envs = registry().envs(&EnvSpec::new("corridor"), 2).unwrap();
    envs.reset(3).unwrap();
    let seen = |envs: &dyn Envs| envs.space().numbers(envs.frames());
    for cell in 1..4 {
        assert!(envs.step(&[1, 0]).unwrap().iter().all(|step| !step.ended()));
        assert_eq!(seen(&*envs), [cell as f32, 0.0]);
    }
    let steps = envs.step(&[1, 1]).unwrap();
    assert_eq!(steps[0], Step { reward: 1.0, terminated: true, ..Step::default() });
    assert!(!steps[1].ended());
    // The next episode has begun in the first, and the second goes on.
    assert_eq!((seen(&*envs), envs.space().numbers(envs.successors())[0]), (vec![0.0, 1.0], 4.0));
    assert_eq!(envs.save().unwrap(), None);

    let mut env = registry().env(&EnvSpec::new("CORRIDOR")).unwrap();
    assert_eq!((env.save().unwrap(), env.action_names()), (None, vec!["0".to_owned(), "1".to_owned()]));
    let restored = env.restore(&[]).unwrap_err();
    assert!(matches!(restored, Error::NoRestore) && restored.to_string().contains("cannot restore"));
    let drawn = env.render().unwrap_err();
    assert!(matches!(drawn, Error::NoPicture) && drawn.to_string().contains("draws no picture"));
}

#[test]
fn one_that_cannot_be_saved_makes_the_whole_unsaveable() {
    let mut limited = TimeLimit::new(Corridor::new(), 2);
    let mut frame = [0; 4];
    limited.reset(None, &mut frame).unwrap();
    assert_eq!(limited.save().unwrap(), None);
    limited.step(1, &mut frame).unwrap();
    assert!(limited.step(1, &mut frame).unwrap().truncated);

    /// A cart with the space of a corridor.
    struct Narrow(CartPole, Space);

    impl Env for Narrow {
        fn space(&self) -> &Space {
            &self.1
        }

        fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
            let mut whole = [0; 16];
            self.0.reset(seed, &mut whole)?;
            frame.copy_from_slice(&whole[..4]);
            Ok(())
        }

        fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
            let mut whole = [0; 16];
            let step = self.0.step(action, &mut whole)?;
            frame.copy_from_slice(&whole[..4]);
            Ok(step)
        }

        fn save(&self) -> Result<Option<Vec<u8>>> {
            self.0.save()
        }

        fn restore(&mut self, state: &[u8]) -> Result<()> {
            self.0.restore(state)
        }
    }
    let narrow = || Box::new(Narrow(CartPole::new(), Space::flat(1, 2)));
    assert!(VecEnv::new(vec![narrow(), narrow()]).unwrap().save().unwrap().is_some());
    assert_eq!(VecEnv::new(vec![narrow(), Box::new(Corridor::new())]).unwrap().save().unwrap(), None);
}

#[test]
fn the_latest_registration_wins() {
    let actions =
        |registry: &Registry, name: &str| registry.env(&EnvSpec::new(name)).unwrap().space().actions;
    let mut registry = registry();
    let before = registry.clone();
    assert_eq!(actions(&registry, "corridor"), 2);
    registry.register("corridor", |_| Ok(Corridor { space: Space::flat(1, 3), cell: 0 }));
    registry.register("CartPole", |_| Ok(Corridor { space: Space::flat(1, 4), cell: 0 }));
    registry.register("gym:Own-v0", |_| Ok(Corridor { space: Space::flat(1, 5), cell: 0 }));
    assert_eq!(["corridor", "cartpole", "gym:own-v0"].map(|name| actions(&registry, name)), [3, 4, 5]);
    // The versioned name is another, and still ours.
    assert_eq!(actions(&registry, "CartPole-v1"), 2);
    assert!(
        !registry.is_outside("gym:Own-v0", &Args::new()) && registry.is_outside("gym:Other-v0", &Args::new())
    );
    // A clone taken before is not touched.
    assert_eq!([actions(&before, "corridor"), actions(&before, "cartpole")], [2, 2]);
    let names = registry.names();
    assert_eq!(names.iter().filter(|name| *name == "cartpole").count(), 1, "{names:?}");
    assert!(format!("{registry:?}").contains("\"corridor\""));
}

/// Arguments and purpose reach whoever makes the environment, and its refusal the caller.
#[test]
fn the_maker_sees_the_spec() {
    let mut registry = Registry::default();
    registry.register("sized", |spec| match spec.args.get("size").and_then(|size| size.as_u64()) {
        Some(size) => Ok(Corridor { space: Space::flat(1, size as usize), cell: 0 }),
        None => Err(Error::other("sized needs a size")),
    });
    let args = serde_json::from_str(r#"{"size": 7}"#).unwrap();
    let spec = EnvSpec { args, ..EnvSpec::new("sized") };
    assert_eq!(registry.envs(&spec, 3).unwrap().space().actions, 7);
    let error = registry.env(&EnvSpec::new("sized")).err().unwrap();
    assert_eq!(error.to_string(), "sized needs a size");
}

/// What makes several environments at once is asked to, and takes wrappers if it says so.
#[test]
fn a_maker_of_its_own_makes_several_together() {
    struct Together {
        wraps: bool,
    }
    impl Maker for Together {
        fn env(&self, spec: &EnvSpec) -> Result<Box<dyn Env>> {
            let space = Space::flat(1, 2 + spec.wrappers.len());
            Ok(Box::new(Corridor { space, cell: 0 }))
        }
        fn envs(&self, spec: &EnvSpec, count: usize) -> Result<Box<dyn Envs>> {
            // One more than asked for, to be told from what the default would make.
            let envs = (0..=count).map(|_| self.env(spec)).collect::<Result<_>>()?;
            Ok(Box::new(VecEnv::new(envs)?))
        }
        fn wraps(&self) -> bool {
            self.wraps
        }
    }
    let mut registry = Registry::default();
    registry.register_maker("gym:Wrapped-v0", Together { wraps: true });
    registry.register_maker("plain", Together { wraps: false });
    let spec = |name| EnvSpec { wrappers: vec!["TimeLimit".to_owned()], ..EnvSpec::new(name) };
    assert_eq!(registry.envs(&EnvSpec::new("plain"), 3).unwrap().len(), 4);
    assert_eq!(registry.env(&spec("gym:wrapped-v0")).unwrap().space().actions, 3);
    assert!(matches!(registry.env(&spec("plain")), Err(Error::NoWrappers { .. })));
}

#[test]
fn unknown_names_suggest_registered_ones() {
    let error = registry().env(&EnvSpec::new("coridor")).err().unwrap();
    assert!(matches!(&error, Error::Name { closest, .. } if closest == "corridor"), "{error}");
    assert!(error.to_string().contains("corridor, cartpole"), "{error}");
}

#[test]
fn a_space_without_numbers_or_actions_is_refused() {
    for (space, said) in [(Space::flat(0, 2), "0 numbers"), (Space::flat(2, 0), "0 actions")] {
        let mut registry = Registry::default();
        registry.register("empty", move |_| Ok(Corridor { space: space.clone(), cell: 0 }));
        let error = registry.envs(&EnvSpec::new("empty"), 1).err().unwrap().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// CartPole that says how long a step takes, and counts those that a thread of a pool took.
struct Paced {
    inner: TimeLimit<CartPole>,
    slow: bool,
    pooled: Arc<AtomicUsize>,
}

impl Env for Paced {
    fn space(&self) -> &Space {
        self.inner.space()
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        self.inner.reset(seed, frame)
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.pooled.fetch_add(usize::from(rayon::current_thread_index().is_some()), Relaxed);
        self.inner.step(action, frame)
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        self.inner.save()
    }

    fn is_slow(&self) -> bool {
        self.slow
    }
}

/// Everything seen over 300 steps of eight environments, and how many steps a thread of a pool took.
fn paced(slow: bool) -> (Vec<u8>, Vec<Step>, usize) {
    let pooled = Arc::new(AtomicUsize::new(0));
    let env = |_| {
        let inner = TimeLimit::new(CartPole::new(), 40);
        Box::new(Paced { inner, slow, pooled: pooled.clone() }) as Box<dyn Env>
    };
    let mut envs = VecEnv::new((0..8).map(env).collect()).unwrap();
    envs.reset(3).unwrap();
    let (mut frames, mut steps) = (vec![], vec![]);
    for time in 0..300 {
        let actions: Vec<_> = (0..8).map(|env| (time / 3 + env) % 2).collect();
        steps.extend_from_slice(envs.step(&actions).unwrap());
        frames.extend_from_slice(envs.successors());
        frames.extend_from_slice(envs.frames());
    }
    frames.extend(envs.save().unwrap().unwrap());
    (frames, steps, pooled.load(Relaxed))
}

#[test]
fn slow_environments_are_stepped_on_all_cores_with_the_same_bits() {
    let (frames, steps, pooled) = paced(false);
    assert_eq!(pooled, 0, "fast ones stay on their thread");
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let slow = pool.install(|| paced(true));
        assert!((slow.0, slow.1) == (frames.clone(), steps.clone()), "{threads} threads");
        assert_eq!(slow.2, 8 * 300);
    }
    assert_eq!(paced(true).2, 8 * 300, "outside of a pool too");
}

#[test]
fn of_several_slow_environments_that_fail_the_first_is_named() {
    struct Failing(Space, bool);
    impl Env for Failing {
        fn space(&self) -> &Space {
            &self.0
        }
        fn reset(&mut self, _: Option<u64>, frame: &mut [u8]) -> Result<()> {
            self.0.write(&[0.0], frame)
        }
        fn step(&mut self, _: usize, frame: &mut [u8]) -> Result<Step> {
            self.0.write(&[if self.1 { f32::NAN } else { 0.0 }], frame)?;
            Ok(Step::default())
        }
        fn is_slow(&self) -> bool {
            true
        }
    }
    let env = |i| Box::new(Failing(Space::flat(1, 2), i >= 2)) as Box<dyn Env>;
    let mut envs = VecEnv::new((0..6).map(env).collect()).unwrap();
    envs.reset(1).unwrap();
    let text = envs.step(&[0; 6]).unwrap_err().to_string();
    assert!(text.contains('2') && !text.contains('5'), "{text}");
}
