//! A step of an environment, as a replay memory takes it.

/// The frame before an action, the action, and what came of it.
///
/// ```
/// use adfq_deep::replay::Transition;
///
/// let step = Transition::new(&[10], 2, 1.0);
/// assert_eq!((step.terminated, step.truncated, step.last), (false, false, None));
/// let cut = step.cut_off_at(&[20]);
/// assert_eq!((cut.terminated, cut.truncated, cut.last), (false, true, Some(&[20][..])));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition<'a> {
    /// The frame that was there when the action was taken.
    pub frame: &'a [u8],
    /// The action.
    pub action: u32,
    /// Whether transitions that began before end here, because the action was not the best.
    pub explored: bool,
    /// What it paid.
    pub reward: f32,
    /// Whether the episode ended of itself.
    pub terminated: bool,
    /// Whether it was cut off.
    pub truncated: bool,
    /// The final frame of an episode that ended, either way.
    pub last: Option<&'a [u8]>,
}

impl<'a> Transition<'a> {
    /// A step after which the episode goes on.
    pub fn new(frame: &'a [u8], action: u32, reward: f32) -> Self {
        Self { frame, action, explored: false, reward, terminated: false, truncated: false, last: None }
    }

    /// The same, as the step with which the episode ended at this frame.
    #[must_use]
    pub fn ended_at(self, last: &'a [u8]) -> Self {
        Self { terminated: true, last: Some(last), ..self }
    }

    /// The same, as the step after which the episode was cut off at this frame.
    #[must_use]
    pub fn cut_off_at(self, last: &'a [u8]) -> Self {
        Self { truncated: true, last: Some(last), ..self }
    }
}
