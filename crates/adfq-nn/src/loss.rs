//! The loss of one output. What the errors are is for the agent to say.

/// Huber's loss of an error and its derivative: e²/2 up to |e| = δ, then linear with slope δ.
///
/// ```
/// use adfq_nn::huber;
///
/// assert_eq!(huber(0.5, 1.0), (0.125, 0.5));
/// assert_eq!(huber(-3.0, 1.0), (2.5, -1.0));
/// ```
#[inline]
pub fn huber(error: f32, delta: f32) -> (f32, f32) {
    // The loss is g·(e - g/2) on both branches. A NaN stays one, and a negative δ does not panic as `clamp` would.
    let gradient = if error > delta {
        delta
    } else if error < -delta {
        -delta
    } else {
        error
    };
    (gradient * (error - 0.5 * gradient), gradient)
}
