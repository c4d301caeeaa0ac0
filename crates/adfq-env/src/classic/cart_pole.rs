//! CartPole (Barto, Sutton and Anderson 1983): push a cart so that the pole on it does not fall.

use super::{check_within, space};
use crate::episode::{Episode, check_frame, write};
use crate::picture::Canvas;
use crate::{Env, Picture, Result, Space, Step};

const NAME: &str = "CartPole";
const GRAVITY: f64 = 9.8;
const POLE_MASS: f64 = 0.1;
const TOTAL_MASS: f64 = POLE_MASS + 1.0;
/// Half the pole's length.
const LENGTH: f64 = 0.5;
const POLE_MASS_LENGTH: f64 = POLE_MASS * LENGTH;
const FORCE: f64 = 10.0;
/// Seconds of a step.
const TAU: f64 = 0.02;
const X_LIMIT: f64 = 2.4;
/// Twelve degrees.
const THETA_LIMIT: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;

/// CartPole-v1 without its time limit of 500 steps. Each step pays 1, the one on which the pole falls or the cart
/// leaves the track included.
///
/// A frame is (x, ẋ, θ, θ̇); action 0 pushes to the left, 1 to the right.
///
/// ```
/// use adfq_env::{CartPole, Env};
///
/// let (mut env, mut frame) = (CartPole::new(), [0; 16]);
/// env.set_state([0.0, 0.0, 0.2, 1.0])?;
/// let step = env.step(1, &mut frame)?;
/// assert_eq!((step.reward, step.terminated), (1.0, true));
/// assert!((env.state()[2] - 0.22).abs() < 1e-12);
/// # Ok::<(), adfq_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CartPole {
    space: Space,
    episode: Episode<[f64; 4]>,
}

impl CartPole {
    /// A cart before its first episode.
    pub fn new() -> Self {
        Self { space: space(4, 2), episode: Episode::new([0.0; 4]) }
    }

    /// (x, ẋ, θ, θ̇).
    pub fn state(&self) -> [f64; 4] {
        self.episode.state
    }

    /// Starts an episode in this state, of finite numbers.
    pub fn set_state(&mut self, state: [f64; 4]) -> Result<()> {
        check(&state)?;
        self.episode.start(state);
        Ok(())
    }
}

impl Default for CartPole {
    fn default() -> Self {
        Self::new()
    }
}

fn check(state: &[f64; 4]) -> Result<()> {
    let quantities = ["position", "velocity", "angle", "angular velocity"];
    let check = |(quantity, &value)| check_within(NAME, quantity, value, (f64::MIN, f64::MAX), "finite");
    quantities.into_iter().zip(state).try_for_each(check)
}

/// One Euler step of the equations of motion (Florian 2007), positions before velocities.
#[inline]
fn advance([x, x_dot, theta, theta_dot]: [f64; 4], force: f64) -> [f64; 4] {
    let (sin, cos) = libm::sincos(theta);
    let push = (force + POLE_MASS_LENGTH * (theta_dot * theta_dot) * sin) / TOTAL_MASS;
    let theta_acc =
        (GRAVITY * sin - cos * push) / (LENGTH * (4.0 / 3.0 - POLE_MASS * (cos * cos) / TOTAL_MASS));
    let x_acc = push - POLE_MASS_LENGTH * theta_acc * cos / TOTAL_MASS;
    [x + TAU * x_dot, x_dot + TAU * x_acc, theta + TAU * theta_dot, theta_dot + TAU * theta_acc]
}

impl Env for CartPole {
    fn space(&self) -> &Space {
        &self.space
    }

    fn reset(&mut self, seed: Option<u64>, frame: &mut [u8]) -> Result<()> {
        check_frame(frame, 16)?;
        self.episode.seed(seed);
        let state = std::array::from_fn(|_| self.episode.uniform(-0.05, 0.05));
        self.episode.start(state);
        write(frame, state);
        Ok(())
    }

    fn step(&mut self, action: usize, frame: &mut [u8]) -> Result<Step> {
        self.episode.check((action, 2), frame, 16)?;
        let state = advance(self.episode.state, if action == 1 { FORCE } else { -FORCE });
        let [x, _, theta, _] = state;
        let terminated = !(-X_LIMIT..=X_LIMIT).contains(&x) || !(-THETA_LIMIT..=THETA_LIMIT).contains(&theta);
        (self.episode.state, self.episode.running) = (state, !terminated);
        write(frame, state);
        Ok(Step { reward: 1.0, terminated, ..Step::default() })
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        self.episode.save(NAME).map(Some)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.episode = Episode::restore(NAME, state, check)?;
        Ok(())
    }

    fn render(&self) -> Result<Picture> {
        let [x, _, theta, _] = self.episode.state;
        let width = 300.0;
        let scale = width / (2.0 * X_LIMIT);
        let (centre, track) = (width / 2.0 + scale * x, 150.0);
        let mut canvas = Canvas::new(300, 200, [255; 3]);
        canvas.line([0.0, track], [width, track], 1.5, [120; 3]);
        for end in [-X_LIMIT, X_LIMIT] {
            let x = (width / 2.0 + scale * end).clamp(1.0, width - 1.0);
            canvas.line([x, track], [x, track + 10.0], 2.0, [120; 3]);
        }
        canvas.rectangle([centre - 15.0, track - 9.0], [centre + 15.0, track + 9.0], [40, 44, 52]);
        let axle = [centre, track - 5.0];
        // The pole is drawn at one and a half times its length, to see its angle.
        let long = 1.5 * scale * 2.0 * LENGTH;
        let tip = [axle[0] + long * libm::sin(theta), axle[1] - long * libm::cos(theta)];
        canvas.line(axle, tip, 6.0, [202, 152, 101]);
        canvas.circle(axle, 3.5, [129, 132, 203]);
        Ok(canvas.finish())
    }

    fn action_names(&self) -> Vec<String> {
        ["left", "right"].map(String::from).to_vec()
    }
}
