//! `adfq learn`: one agent learns one MDP.

use crate::output::{print, say};
use adfq::agent::NoiseModel;
use adfq::mdp::Mdp;
use adfq::spec::{AgentKind, PolicyKind, PriorSpec, RunSpec};
use adfq::update::{NoiseKind, RuleKind};
use adfq_lab::learn::{RECORDING, learn, record};
use adfq_lab::{domain, text};
use anyhow::{Result, bail};
use clap::ValueEnum;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::time::Instant;

/// Train one agent and show what it learned, how sure it is, and how far from the truth
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq learn maze
  adfq learn loop --agent q-learning --steps 5000
  adfq learn chain --policy vpi --seed 7
  adfq learn loop --prior 0.001,100        # the paper's ADFQ from a neutral start: it settles for the poorer ring
  adfq learn deepsea-10 --rule exact --json > deepsea.json
  adfq learn maze --out runs/maze && adfq serve runs    # watch how the beliefs grew
  adfq solve loop --export loop.csv && adfq learn loop.csv

Agents, and the policies they take:
  split       ADFQ with calibrated beliefs (default)     all
  adfq        the paper's ADFQ                           all but optimist
  ktd-q       one joint Gaussian; slow in large domains  all but optimist
  bayesian-q  normal-gamma beliefs                       all but optimist
  q-learning  no beliefs                                 epsilon greedy boltzmann uniform
  psrl        acts in MDPs drawn from a posterior        all but optimist
  vi          value iteration on the counts              epsilon greedy boltzmann uniform
  rmax mbie beb ucbvi  the same with optimistic values   optimist epsilon greedy boltzmann uniform
  q-optimistic  q-learning from the largest value        greedy epsilon boltzmann uniform

Priors:
  auto              adfq, ktd-q, bayesian-q and q-learning: mean and spread from the first positive
                    reward of a random walk; others: from the range of the rewards that can be met
  MEAN,VAR          say 0,100; for adfq, ktd-q, bayesian-q and q-learning
  range:MIN,MAX     from the least and the greatest reward; in tasks with episodes a third
                    number, 1 unless given, is how many rewards one can have

With --json the last fields are visits of each state and action, how good the beliefs are
over the pairs that were tried (\"visited\"), and a curve of about 100 points with
the reward so far, RMSE and coverage.

The same command prints the same result.")]
pub struct Args {
    /// A built-in domain (see `adfq solve --list`), or a file that ends in .csv or .json
    #[arg(value_name = "DOMAIN|FILE")]
    domain: String,
    /// What learns: split, adfq, q-learning, ktd-q, bayesian-q, psrl, vi, rmax, mbie, beb, ucbvi or q-optimistic [default: split, or adfq with one of its options]
    #[arg(long)]
    agent: Option<AgentKind>,
    /// How it acts: optimist, thompson, epsilon, greedy, boltzmann, vpi, active or uniform [default: the first of those that
    /// the agent takes, see below]
    #[arg(long)]
    policy: Option<PolicyKind>,
    /// Steps to learn for [default: 300 for each state and action, at least 10000]
    #[arg(long, value_parser = crate::count::parse, allow_negative_numbers = true)]
    steps: Option<u64>,
    /// The seed from which all chance is drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where beliefs start: auto, MEAN,VAR or range:MIN,MAX
    #[arg(long, default_value = "auto", allow_hyphen_values = true)]
    prior: PriorSpec,
    /// Another discount than the domain's own
    #[arg(long, allow_negative_numbers = true)]
    gamma: Option<f64>,
    /// Record the beliefs at about 100 moments in this folder, as recording.json: `adfq serve` shows them
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Show all states, also those that cannot be reached
    #[arg(long)]
    all: bool,
    /// Print one JSON object with everything
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "Policies")]
    acting: Acting,
    #[command(flatten, next_help_heading = "ADFQ")]
    adfq: AdfqArgs,
}

#[derive(clap::Args)]
struct Acting {
    /// Probability of a random action, for the policy epsilon [default: 0.1]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Temperature, on the scale of the values, for the policy boltzmann
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    temperature: Option<f64>,
}

#[derive(clap::Args)]
struct AdfqArgs {
    /// The update rule [default: analytic]
    #[arg(long, value_enum)]
    rule: Option<RuleName>,
    /// How noise on targets is treated [default: none]
    #[arg(long, value_enum)]
    noise: Option<NoiseName>,
    /// Variance of that noise [default: 0.001]
    #[arg(long, value_name = "W", requires = "noise", allow_negative_numbers = true)]
    var_w: Option<f64>,
    /// Let the noise of a pair decay as 1/(1 + updates of it), as the authors do
    #[arg(long, requires = "noise")]
    noise_decay: bool,
    /// Learn from remembered transitions of the pair, as the authors do in stochastic domains
    #[arg(long)]
    replay: bool,
    /// Variance of the target where an episode ends [default: 0.001]
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    terminal_var: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum RuleName {
    /// The paper's closed form
    Analytic,
    /// True moments
    Exact,
    /// The paper's evenly spaced samples
    Grid,
}

#[derive(Clone, Copy, ValueEnum)]
enum NoiseName {
    /// Targets are certain
    None,
    /// As in the paper; the analytic rule only
    Approximate,
    /// Convolved into the likelihood
    Exact,
}

impl AdfqArgs {
    fn any(&self) -> bool {
        self.rule.is_some() || self.noise.is_some() || self.replay || self.terminal_var.is_some()
    }
}

impl Args {
    /// What was asked for, by name or by what only the paper's agent has a use for.
    fn agent(&self) -> AgentKind {
        let papers = self.adfq.any() || matches!(self.prior, PriorSpec::Moments { .. });
        self.agent.unwrap_or(if papers { AgentKind::Adfq } else { AgentKind::Split })
    }

    /// An option that would do nothing is more likely a mistake.
    fn check_idle(&self, spec: &RunSpec) -> Result<()> {
        let RunSpec { agent, policy, .. } = spec;
        if agent.takes_range() && matches!(self.prior, PriorSpec::Moments { .. }) {
            bail!("{agent} takes a range of rewards; for MEAN,VAR add --agent adfq");
        }
        let adfq = &self.adfq;
        let is_adfq = *agent == AgentKind::Adfq;
        for (name, given, useful, place) in [
            ("rule", adfq.rule.is_some(), is_adfq, "agent adfq"),
            ("noise", adfq.noise.is_some(), is_adfq, "agent adfq"),
            ("replay", adfq.replay, is_adfq, "agent adfq"),
            ("terminal-var", adfq.terminal_var.is_some(), is_adfq, "agent adfq"),
            ("epsilon", self.acting.epsilon.is_some(), *policy == PolicyKind::Epsilon, "policy epsilon"),
            (
                "temperature",
                self.acting.temperature.is_some(),
                *policy == PolicyKind::Boltzmann,
                "policy boltzmann",
            ),
        ] {
            if given && !useful {
                let other = if place.starts_with("agent") { agent.name() } else { policy.name() };
                bail!("--{name} is for the {place}, not for {other}; leave it out");
            }
        }
        Ok(())
    }

    fn spec(&self, mdp: &Mdp) -> RunSpec {
        let usual = RunSpec::of(self.agent(), mdp);
        let adfq = &self.adfq;
        RunSpec {
            agent: usual.agent,
            policy: self.policy.unwrap_or(usual.policy),
            steps: self.steps.unwrap_or(usual.steps),
            seed: self.seed,
            prior: self.prior,
            rule: adfq.rule.map_or(usual.rule, |name| RuleKind::from(name).into()),
            noise: adfq
                .noise
                .map_or(usual.noise, |name| name.model(adfq.var_w.unwrap_or(1e-3), adfq.noise_decay)),
            terminal_var: adfq.terminal_var.unwrap_or(usual.terminal_var),
            replay: adfq.replay,
            epsilon: self.acting.epsilon.unwrap_or(usual.epsilon),
            temperature: self.acting.temperature,
        }
    }
}

impl From<RuleName> for RuleKind {
    fn from(name: RuleName) -> Self {
        match name {
            RuleName::Analytic => Self::Analytic,
            RuleName::Exact => Self::Exact,
            RuleName::Grid => Self::Grid,
        }
    }
}

impl NoiseName {
    fn model(self, var_w: f64, decays: bool) -> NoiseModel {
        let kind = match self {
            Self::None => return NoiseModel::None,
            Self::Approximate => NoiseKind::Approximate,
            Self::Exact => NoiseKind::Exact,
        };
        if decays { NoiseModel::Decaying(kind, var_w) } else { NoiseModel::Constant(kind, var_w) }
    }
}

pub fn run(args: &Args) -> Result<()> {
    let mut mdp = domain::open(&args.domain)?;
    if let Some(gamma) = args.gamma {
        mdp = mdp.with_gamma(gamma)?;
    }
    let spec = args.spec(&mdp);
    args.check_idle(&spec)?;
    let (bar, clock) = (progress_bar(spec.steps), Instant::now());
    let tell = |done| bar.set_position(done);
    let (learned, recording) = match args.out {
        Some(_) => record(&mdp, &spec, tell).map(|(learned, recording)| (learned, Some(recording)))?,
        None => (learn(&mdp, &spec, tell)?, None),
    };
    bar.finish_and_clear();
    // Beside the result, which is the same every time.
    let speed = spec.steps as f64 / clock.elapsed().as_secs_f64();
    match args.json {
        true => print(&(serde_json::to_string_pretty(&learned)? + "\n"))?,
        false => print(&text::learned(&mdp, &learned, args.all))?,
    }
    say(&format!("{:<20}{} steps/s", "speed", HumanCount(speed as u64)));
    if let (Some(out), Some(recording)) = (&args.out, recording) {
        recording.write(out)?;
        say(&format!("wrote the beliefs to {}", out.join(RECORDING).display()));
    }
    Ok(())
}

/// Drawn on a terminal only, and only once learning takes a while.
fn progress_bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} steps, {eta} left");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
