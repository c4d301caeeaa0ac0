//! Acrobot (Sutton 1996): swing two links up by a torque at the joint between them.

use super::{Control, System};
use crate::Picture;
use crate::picture::Canvas;
use libm::{cos, sin, sincos};
use std::f64::consts::{FRAC_PI_2, PI};

/// Seconds of a step.
const DT: f64 = 0.2;
const GRAVITY: f64 = 9.8;
// Masses m, length l₁, centres of mass l_c and moments of inertia I of the links.
const M1: f64 = 1.0;
const M2: f64 = 1.0;
const L1: f64 = 1.0;
const LC1: f64 = 0.5;
const LC2: f64 = 0.5;
const I1: f64 = 1.0;
const I2: f64 = 1.0;
/// The largest velocities of the two joints.
const LARGEST: [f64; 2] = [4.0 * PI, 9.0 * PI];

/// Acrobot-v1 without its time limit of 500 steps. Each step costs 1 until the free end swings a link's length
/// above the pivot.
///
/// A frame is (cos θ₁, sin θ₁, cos θ₂, sin θ₂, θ̇₁, θ̇₂), the angles from hanging down and from being in line;
/// actions 0, 1, 2 are torques -1, 0, 1.
///
/// ```
/// use adfq_env::{Acrobot, Env};
///
/// let (mut env, mut frame) = (Acrobot::new(), [0; 24]);
/// env.set_state([0.0; 4])?;
/// assert_eq!(env.step(1, &mut frame)?.reward, -1.0);
/// // Without a torque it hangs at rest, up to the rounding of cos(-π/2).
/// assert!(env.state().iter().all(|x| x.abs() < 1e-15));
/// # Ok::<(), adfq_env::Error>(())
/// ```
pub type Acrobot = Control<AcrobotSystem>;

/// The equations of [`Acrobot`].
#[derive(Clone, Debug)]
pub struct AcrobotSystem;

impl System for AcrobotSystem {
    type State = [f64; 4];
    const NAME: &'static str = "Acrobot";
    const BOUNDS: &'static [(&'static str, [f64; 2], &'static str)] = &[
        ("first angle", [-PI, PI], "within ±π"),
        ("second angle", [-PI, PI], "within ±π"),
        ("first velocity", [-LARGEST[0], LARGEST[0]], "within ±4π"),
        ("second velocity", [-LARGEST[1], LARGEST[1]], "within ±9π"),
    ];
    const ACTIONS: &'static [&'static str] = &["torque -1", "no torque", "torque +1"];
    const NUMBERS: usize = 6;
    const REST: [f64; 4] = [0.0; 4];

    fn start(mut uniform: impl FnMut(f64, f64) -> f64) -> [f64; 4] {
        // Gymnasium rounds the first state, and no other, to f32.
        std::array::from_fn(|_| f64::from(uniform(-0.1, 0.1) as f32))
    }

    #[inline]
    fn advance(state: [f64; 4], action: usize) -> ([f64; 4], f64, bool) {
        let state = swing(state, action as f64 - 1.0);
        let terminated = -cos(state[0]) - cos(state[1] + state[0]) > 1.0;
        (state, if terminated { 0.0 } else { -1.0 }, terminated)
    }

    #[inline]
    fn observe([theta1, theta2, velocity1, velocity2]: [f64; 4]) -> impl AsRef<[f32]> {
        let ((sin1, cos1), (sin2, cos2)) = (sincos(theta1), sincos(theta2));
        [cos1, sin1, cos2, sin2, velocity1, velocity2].map(|number| number as f32)
    }

    fn draw(state: [f64; 4]) -> Picture {
        let [theta1, theta2, ..] = state;
        let (size, scale) = (200.0, 200.0 / 4.4);
        let hang = |[x, y]: [f64; 2], angle| [x + scale * sin(angle), y + scale * cos(angle)];
        let pivot = [size / 2.0, size / 2.0];
        let joint = hang(pivot, theta1);
        let tip = hang(joint, theta1 + theta2);
        let mut canvas = Canvas::new(200, 200, [255; 3]);
        let goal = pivot[1] - scale;
        canvas.line([0.0, goal], [size, goal], 1.5, [120; 3]);
        for (from, to) in [(pivot, joint), (joint, tip)] {
            canvas.line(from, to, 8.0, [0, 160, 165]);
            canvas.circle(to, 4.0, [0, 160, 165]);
        }
        for centre in [pivot, joint] {
            canvas.circle(centre, 5.0, [205, 190, 0]);
        }
        canvas.finish()
    }
}

/// The equations of motion as in the book of Sutton and Barto.
#[inline]
fn derivative([theta1, theta2, velocity1, velocity2]: [f64; 4], torque: f64) -> [f64; 4] {
    let (sin2, cos2) = sincos(theta2);
    let d1 = M1 * (LC1 * LC1) + M2 * (L1 * L1 + LC2 * LC2 + 2.0 * L1 * LC2 * cos2) + I1 + I2;
    let d2 = M2 * (LC2 * LC2 + L1 * LC2 * cos2) + I2;
    let phi2 = M2 * LC2 * GRAVITY * cos(theta1 + theta2 - FRAC_PI_2);
    let phi1 = -M2 * L1 * LC2 * (velocity2 * velocity2) * sin2
        - 2.0 * M2 * L1 * LC2 * velocity2 * velocity1 * sin2
        + (M1 * LC1 + M2 * L1) * GRAVITY * cos(theta1 - FRAC_PI_2)
        + phi2;
    let pull = torque + d2 / d1 * phi1 - M2 * L1 * LC2 * (velocity1 * velocity1) * sin2 - phi2;
    let acceleration2 = pull / (M2 * (LC2 * LC2) + I2 - d2 * d2 / d1);
    let acceleration1 = -(d2 * acceleration2 + phi1) / d1;
    [velocity1, velocity2, acceleration1, acceleration2]
}

/// One step of the classic Runge-Kutta method, wrapped and bounded.
#[inline]
fn swing(state: [f64; 4], torque: f64) -> [f64; 4] {
    let along = |scale: f64, k: [f64; 4]| std::array::from_fn(|i| state[i] + scale * k[i]);
    let k1 = derivative(state, torque);
    let k2 = derivative(along(DT / 2.0, k1), torque);
    let k3 = derivative(along(DT / 2.0, k2), torque);
    let k4 = derivative(along(DT, k3), torque);
    let sum: [f64; 4] = std::array::from_fn(|i| k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    let [theta1, theta2, velocity1, velocity2] = along(DT / 6.0, sum);
    let bound = |velocity: f64, largest: f64| velocity.clamp(-largest, largest);
    [wrap(theta1), wrap(theta2), bound(velocity1, LARGEST[0]), bound(velocity2, LARGEST[1])]
}

/// The angle in [-π, π], turn by turn as Gymnasium does it. A step turns a joint by a few turns at most.
#[inline]
fn wrap(mut angle: f64) -> f64 {
    while angle > PI {
        angle -= 2.0 * PI;
    }
    while angle < -PI {
        angle += 2.0 * PI;
    }
    angle
}
