//! MountainCar (Moore 1990): a car too weak for the hill has to swing up.

use super::{Control, System};
use crate::Picture;
use crate::picture::Canvas;
use libm::{cos, sin};

const LEFT: f64 = -1.2;
const RIGHT: f64 = 0.6;
const FASTEST: f64 = 0.07;
const GOAL: f64 = 0.5;
const FORCE: f64 = 0.001;
const GRAVITY: f64 = 0.0025;

/// MountainCar-v0 without its time limit of 200 steps. Each step costs 1, the one that reaches the flag included.
///
/// A frame is (position, velocity); actions 0, 1, 2 push to the left, not at all, to the right.
///
/// ```
/// use adfq_env::{Env, MountainCar};
///
/// let (mut env, mut frame) = (MountainCar::new(), [0; 8]);
/// env.set_state([0.49, 0.05])?;
/// let step = env.step(2, &mut frame)?;
/// assert_eq!((step.reward, step.terminated), (-1.0, true));
/// assert!(env.set_state([0.7, 0.0]).is_err());
/// # Ok::<(), adfq_env::Error>(())
/// ```
pub type MountainCar = Control<MountainCarSystem>;

/// The equations of [`MountainCar`].
#[derive(Clone, Debug)]
pub struct MountainCarSystem;

impl System for MountainCarSystem {
    type State = [f64; 2];
    const NAME: &'static str = "MountainCar";
    const BOUNDS: &'static [(&'static str, [f64; 2], &'static str)] = &[
        ("position", [LEFT, RIGHT], "in [-1.2, 0.6]"),
        ("velocity", [-FASTEST, FASTEST], "in [-0.07, 0.07]"),
    ];
    const ACTIONS: &'static [&'static str] = &["left", "none", "right"];
    const NUMBERS: usize = 2;
    const REST: [f64; 2] = [-0.5, 0.0];

    fn start(mut uniform: impl FnMut(f64, f64) -> f64) -> [f64; 2] {
        [uniform(-0.6, -0.4), 0.0]
    }

    /// Velocity first, then position; the left border stops the car.
    #[inline]
    fn advance([position, velocity]: [f64; 2], action: usize) -> ([f64; 2], f64, bool) {
        let velocity = velocity + ((action as f64 - 1.0) * FORCE + cos(3.0 * position) * -GRAVITY);
        let velocity = velocity.clamp(-FASTEST, FASTEST);
        let position = (position + velocity).clamp(LEFT, RIGHT);
        let velocity = if position == LEFT && velocity < 0.0 { 0.0 } else { velocity };
        ([position, velocity], -1.0, position >= GOAL && velocity >= 0.0)
    }

    #[inline]
    fn observe(state: [f64; 2]) -> impl AsRef<[f32]> {
        state.map(|number| number as f32)
    }

    fn draw(state: [f64; 2]) -> Picture {
        let (columns, floor) = (300, 200.0);
        let scale = f64::from(columns) / (RIGHT - LEFT);
        let place = |position: f64| [(position - LEFT) * scale, floor - 15.0 - height(position) * 130.0];
        let mut canvas = Canvas::new(columns as usize, 200, [255; 3]);
        for column in 0..columns {
            let [from, to] = [column, column + 1].map(|x| place(LEFT + f64::from(x) / scale));
            canvas.polygon(&[from, to, [to[0], floor], [from[0], floor]], [150, 170, 130]);
        }
        let [x, y] = place(GOAL);
        canvas.line([x, y], [x, y - 28.0], 1.5, [40, 44, 52]);
        canvas.polygon(&[[x, y - 28.0], [x, y - 18.0], [x - 13.0, y - 23.0]], [205, 160, 0]);

        let [position, _] = state;
        // The car stands on the slope: `along` it and `up` from it are its axes.
        let ([x, y], [ahead, above]) = (place(position), place(position + 1e-3));
        let length = libm::hypot(ahead - x, above - y);
        let (along, up) =
            ([(ahead - x) / length, (above - y) / length], [(above - y) / length, -(ahead - x) / length]);
        let at = |a: f64, u: f64| [x + a * along[0] + u * up[0], y + a * along[1] + u * up[1]];
        canvas.polygon(&[at(-11.0, 3.0), at(11.0, 3.0), at(11.0, 9.0), at(-11.0, 9.0)], [40, 44, 52]);
        canvas.polygon(&[at(-6.0, 9.0), at(6.0, 9.0), at(4.0, 14.0), at(-4.0, 14.0)], [70, 90, 160]);
        for wheel in [-6.5, 6.5] {
            canvas.circle(at(wheel, 3.5), 3.5, [128; 3]);
        }
        canvas.finish()
    }
}

/// The height of the hill, for the picture alone.
fn height(position: f64) -> f64 {
    0.45 * sin(3.0 * position) + 0.55
}
