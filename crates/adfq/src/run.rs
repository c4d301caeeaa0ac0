//! The loop in which a tabular agent acts and learns. Who learns and how it acts is stated in [`spec`](crate::spec).

use crate::agent::{Agent, Step};
use crate::mdp::Mdp;
use crate::policy::{AnyPolicy, Policy};
use crate::random::ChaCha8Rng;
use crate::{Error, Result};

/// An agent that acts by a policy in an MDP and learns from every step. It can be stopped, looked at and continued at
/// any step.
///
/// Named agents are started by [`RunSpec::session`](crate::spec::RunSpec::session); an agent or a policy of your own goes
/// into [`Session::new`].
///
/// ```
/// use adfq::agent::{Agent, LearningRate, QLearning};
/// use adfq::policy::Uniform;
/// use adfq::{Session, mdp, random::stream};
///
/// let mdp = mdp::named("loop")?;
/// let agent = QLearning::new(mdp.states(), mdp.actions(), mdp.gamma(), LearningRate::Constant(0.5), 0.0)?;
/// let mut session = Session::new(&mdp, Box::new(agent), Uniform, stream(7, "example"));
/// session.run(5_000)?;
/// assert!(session.agent().means(0)[1] > session.agent().means(0)[0], "the second ring pays more");
/// # Ok::<(), adfq::Error>(())
/// ```
pub struct Session<'a> {
    agent: Box<dyn Learner>,
    policy: AnyPolicy,
    place: Place<'a>,
}

impl<'a> Session<'a> {
    /// A run before its first step. The MDP and the policy draw from `rng` in turn.
    pub fn new(
        mdp: &'a Mdp,
        agent: Box<dyn Learner>,
        policy: impl Into<AnyPolicy>,
        mut rng: ChaCha8Rng,
    ) -> Self {
        let state = mdp.start(&mut rng);
        let place = Place { mdp, world: rng, choice: None, state, steps: 0, episodes: 0, reward: 0.0 };
        Self { agent, policy: policy.into(), place }
    }

    /// The same with a generator of the policy's own.
    pub fn with_policy_rng(mut self, rng: ChaCha8Rng) -> Self {
        self.place.choice = Some(rng);
        self
    }

    /// Takes so many steps: the agent acts, learns, and begins a new episode where one ends. A step that ends in an error
    /// does not count; see the agent for whether it can go on.
    pub fn run(&mut self, steps: u64) -> Result<()> {
        self.observe(steps, |_, _, _| Ok::<(), Error>(()))
    }

    /// Takes so many steps and shows each of them to the observer: how many there were so far, the step, and the agent that
    /// has learned from it. An error of the observer ends the run.
    ///
    /// ```
    /// use adfq::spec::RunSpec;
    ///
    /// let mdp = adfq::mdp::named("chain")?;
    /// let mut visits = vec![0; mdp.states()];
    /// RunSpec::for_mdp(&mdp).session(&mdp)?.observe(100, |_, step, _| {
    ///     visits[step.state] += 1;
    ///     Ok::<(), adfq::Error>(())
    /// })?;
    /// assert_eq!(visits.iter().sum::<u32>(), 100);
    /// # Ok::<(), adfq::Error>(())
    /// ```
    pub fn observe<E: From<Error>>(
        &mut self,
        steps: u64,
        mut observer: impl FnMut(u64, &Step, &dyn Agent) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut stopped = Ok(());
        self.agent.live(&mut self.policy, &mut self.place, steps, &mut |done, step, agent| {
            stopped = observer(done, step, agent);
            stopped.is_ok()
        })?;
        stopped
    }

    /// What has been learned.
    pub fn agent(&self) -> &dyn Agent {
        &*self.agent
    }

    /// The agent, of which nobody else learns any more.
    pub fn into_agent(self) -> Box<dyn Agent> {
        self.agent
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.place.steps
    }

    /// Episodes that ended.
    pub fn episodes(&self) -> u64 {
        self.place.episodes
    }

    /// The rewards collected so far, summed.
    pub fn reward(&self) -> f64 {
        self.place.reward
    }
}

/// Where an agent is in an MDP, where chance comes from, and what has happened so far.
#[doc(hidden)]
pub struct Place<'a> {
    mdp: &'a Mdp,
    world: ChaCha8Rng,
    choice: Option<ChaCha8Rng>,
    state: usize,
    steps: u64,
    episodes: u64,
    reward: f64,
}

/// Who watches a run: told of the steps so far, the last of them and the agent, it says whether to go on.
#[doc(hidden)]
pub type Observer<'o> = dyn FnMut(u64, &Step, &dyn Agent) -> bool + 'o;

/// An agent that the loop is compiled for. Every [`Agent`] is one; there is nothing to implement.
///
/// The loop asks an agent several things in a step. Q-learning takes some 10 ns for all of it, so these calls are bound
/// at compile time, and one call a run is not.
pub trait Learner: Agent {
    #[doc(hidden)]
    fn live(
        &mut self,
        policy: &mut AnyPolicy,
        place: &mut Place<'_>,
        steps: u64,
        observer: &mut Observer<'_>,
    ) -> Result<()>;
}

impl<A: Agent + 'static> Learner for A {
    fn live(
        &mut self,
        policy: &mut AnyPolicy,
        place: &mut Place<'_>,
        steps: u64,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        match policy {
            AnyPolicy::Active(policy) => place.live(self, policy, steps, observer),
            AnyPolicy::Boltzmann(policy) => place.live(self, policy, steps, observer),
            AnyPolicy::EpsilonGreedy(policy) => place.live(self, policy, steps, observer),
            AnyPolicy::Optimist(policy) => place.live(self, policy, steps, observer),
            AnyPolicy::Thompson(policy) => place.live(self, policy, steps, observer),
            AnyPolicy::Uniform(policy) => place.live(self, policy, steps, observer),
            AnyPolicy::Vpi(policy) => place.live(self, policy, steps, observer),
            AnyPolicy::Own(policy) => place.live(self, policy, steps, observer),
        }
    }
}

impl Place<'_> {
    /// The loop.
    fn live<A: Agent + 'static, P: Policy<A>>(
        &mut self,
        agent: &mut A,
        policy: &mut P,
        steps: u64,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        for _ in 0..steps {
            let rng = self.choice.as_mut().unwrap_or(&mut self.world);
            let action = policy.act(agent, self.state, rng);
            let step = self.mdp.step(self.state, action, &mut self.world);
            agent.update(&step)?;
            self.steps += 1;
            self.reward += step.reward;
            self.episodes += u64::from(step.terminal);
            self.state = if step.terminal { self.mdp.start(&mut self.world) } else { step.next_state };
            if !observer(self.steps, &step, agent) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::QTable;
    use crate::mdp::named;
    use crate::random::stream;
    use crate::spec::{AgentKind, RunSpec};

    /// An agent from outside: it counts, and fails at a given step.
    struct Counter(QTable, u64);

    impl Agent for Counter {
        fn table(&self) -> &QTable {
            &self.0
        }

        fn update(&mut self, step: &Step) -> Result<()> {
            self.1 -= 1;
            let count = self.0.row(step.state)[step.action] + 1.0;
            self.0.set(step.state, step.action, count);
            if self.1 == 0 { Err(Error::Reward(0.0)) } else { Ok(()) }
        }
    }

    /// A policy from outside: all actions in turn.
    struct InTurn(usize);

    impl Policy for InTurn {
        fn act(&mut self, agent: &dyn Agent, _state: usize, _rng: &mut ChaCha8Rng) -> usize {
            self.0 += 1;
            self.0 % agent.actions()
        }
    }

    #[test]
    fn an_agent_and_a_policy_from_outside_take_part() {
        let mdp = named("loop").unwrap();
        let counter = Counter(QTable::new(9, 2, 0.0).unwrap(), 101);
        let mut session = Session::new(&mdp, Box::new(counter), InTurn(0), stream(0, "own"));
        session.run(100).unwrap();
        let sum: f64 = (0..9).map(|state| session.agent().means(state).iter().sum::<f64>()).sum();
        assert_eq!((sum, session.steps()), (100.0, 100));
        assert_eq!(session.run(1), Err(Error::Reward(0.0)));
        assert_eq!(session.steps(), 100);
    }

    #[test]
    fn a_pause_changes_nothing() {
        let mdp = named("chain").unwrap();
        let means = |pauses: &[u64]| {
            let mut session = RunSpec::of(AgentKind::Adfq, &mdp).session(&mdp).unwrap();
            pauses.iter().for_each(|&steps| session.run(steps).unwrap());
            (0..5).map(|state| session.agent().means(state).to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(means(&[1_000]), means(&[1, 0, 499, 500]));
    }
}
