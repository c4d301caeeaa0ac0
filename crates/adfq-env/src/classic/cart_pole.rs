//! CartPole (Barto, Sutton and Anderson 1983): push a cart so that the pole on it does not fall.

use super::{Control, System};
use crate::Picture;
use crate::picture::Canvas;

const GRAVITY: f64 = 9.8;
const POLE_MASS: f64 = 0.1;
const TOTAL_MASS: f64 = POLE_MASS + 1.0;
/// Half the pole's length.
const LENGTH: f64 = 0.5;
const POLE_MASS_LENGTH: f64 = POLE_MASS * LENGTH;
const FORCE: f64 = 10.0;
/// Seconds of a step.
const TAU: f64 = 0.02;
const FINITE: [f64; 2] = [f64::MIN, f64::MAX];
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
pub type CartPole = Control<CartPoleSystem>;

/// The equations of [`CartPole`].
#[derive(Clone, Debug)]
pub struct CartPoleSystem;

impl System for CartPoleSystem {
    type State = [f64; 4];
    const NAME: &'static str = "CartPole";
    const BOUNDS: &'static [(&'static str, [f64; 2], &'static str)] = &[
        ("position", FINITE, "finite"),
        ("velocity", FINITE, "finite"),
        ("angle", FINITE, "finite"),
        ("angular velocity", FINITE, "finite"),
    ];
    const ACTIONS: &'static [&'static str] = &["left", "right"];
    const NUMBERS: usize = 4;
    const REST: [f64; 4] = [0.0; 4];

    fn start(mut uniform: impl FnMut(f64, f64) -> f64) -> [f64; 4] {
        std::array::from_fn(|_| uniform(-0.05, 0.05))
    }

    #[inline]
    fn advance(state: [f64; 4], action: usize) -> ([f64; 4], f64, bool) {
        let state = push(state, if action == 1 { FORCE } else { -FORCE });
        let [x, _, theta, _] = state;
        let terminated = !(-X_LIMIT..=X_LIMIT).contains(&x) || !(-THETA_LIMIT..=THETA_LIMIT).contains(&theta);
        (state, 1.0, terminated)
    }

    #[inline]
    fn observe(state: [f64; 4]) -> impl AsRef<[f32]> {
        state.map(|number| number as f32)
    }

    fn draw(state: [f64; 4]) -> Picture {
        let [x, _, theta, _] = state;
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
        canvas.finish()
    }
}

/// One Euler step of the equations of motion (Florian 2007), positions before velocities.
#[inline]
fn push([x, x_dot, theta, theta_dot]: [f64; 4], force: f64) -> [f64; 4] {
    let (sin, cos) = libm::sincos(theta);
    let pushed = (force + POLE_MASS_LENGTH * (theta_dot * theta_dot) * sin) / TOTAL_MASS;
    let theta_acc =
        (GRAVITY * sin - cos * pushed) / (LENGTH * (4.0 / 3.0 - POLE_MASS * (cos * cos) / TOTAL_MASS));
    let x_acc = pushed - POLE_MASS_LENGTH * theta_acc * cos / TOTAL_MASS;
    [x + TAU * x_dot, x_dot + TAU * x_acc, theta + TAU * theta_dot, theta_dot + TAU * theta_acc]
}
