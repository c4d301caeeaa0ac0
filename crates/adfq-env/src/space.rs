//! The shape of what an agent sees and the number of things it can do.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How the numbers of a frame lie in its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// One byte a number; the network sees it times `scale`.
    U8 {
        /// 1/255 for pixels, 1 for flags.
        scale: f32,
    },
    /// Four bytes a number, an f32 in the machine's order.
    F32,
}

impl Element {
    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 { .. } => 1,
            Self::F32 => 4,
        }
    }
}

/// The frames an environment emits, how many of them an observation stacks, and the number of actions.
///
/// ```
/// use adfq_env::{Element, Space};
///
/// let atari = Space { frame: vec![84, 84, 1], element: Element::U8 { scale: 1.0 / 255.0 }, stack: 4, actions: 6 };
/// assert_eq!((atari.frame_bytes(), atari.observation_len()), (7056, 28_224));
/// assert_eq!(atari.observation_shape(), [84, 84, 4]);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// The shape of one frame: `[n]`, or `[height, width, channels]` with the channels innermost.
    pub frame: Vec<usize>,
    /// How its numbers lie in bytes.
    pub element: Element,
    /// How many frames, the latest last, make an observation. They are stacked along the innermost axis; before the
    /// first frame of an episode come copies of it.
    pub stack: usize,
    /// The number of actions.
    pub actions: usize,
}

impl Space {
    /// Frames of `n` numbers as f32, each of them an observation.
    ///
    /// ```
    /// let space = adfq_env::Space::flat(4, 2);
    /// assert_eq!((space.frame_bytes(), space.observation_shape(), space.actions), (16, vec![4], 2));
    /// ```
    pub fn flat(n: usize, actions: usize) -> Self {
        Self { frame: vec![n], element: Element::F32, stack: 1, actions }
    }

    /// Numbers in one frame.
    pub fn frame_len(&self) -> usize {
        self.frame.iter().product()
    }

    /// Bytes of one frame.
    pub fn frame_bytes(&self) -> usize {
        self.frame_len() * self.element.bytes()
    }

    /// Numbers in one observation.
    pub fn observation_len(&self) -> usize {
        self.frame_len() * self.stack
    }

    /// The shape of one observation: the frame's, its innermost axis `stack` times as long.
    pub fn observation_shape(&self) -> Vec<usize> {
        let mut shape = self.frame.clone();
        if let Some(innermost) = shape.last_mut() {
            *innermost *= self.stack;
        }
        shape
    }

    /// The numbers of a frame as a network sees them. For people and tests: it makes a vector each time.
    ///
    /// ```
    /// use adfq_env::{Element, Space};
    ///
    /// let space = Space { frame: vec![2], element: Element::U8 { scale: 0.5 }, stack: 1, actions: 1 };
    /// assert_eq!(space.numbers(&[3, 4]), [1.5, 2.0]);
    /// let space = Space { element: Element::F32, ..space };
    /// assert_eq!(space.numbers(&[0.1_f32.to_ne_bytes(), 7_f32.to_ne_bytes()].concat()), [0.1, 7.0]);
    /// ```
    pub fn numbers(&self, frame: &[u8]) -> Vec<f32> {
        match self.element {
            Element::U8 { scale } => frame.iter().map(|&byte| f32::from(byte) * scale).collect(),
            Element::F32 => frame.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect(),
        }
    }

    /// Writes numbers, as a network is to see them, into a frame: the inverse of [`Space::numbers`]. With
    /// [`Element::U8`] each is divided by the scale, rounded to the nearest integer and kept within 0 and 255. An error
    /// if there are more or fewer numbers than a frame has, or the frame has not its length.
    ///
    /// ```
    /// use adfq_env::{Element, Space};
    ///
    /// let space = Space::flat(2, 1);
    /// let mut frame = vec![0; space.frame_bytes()];
    /// space.write(&[0.1, 7.0], &mut frame)?;
    /// assert_eq!(space.numbers(&frame), [0.1, 7.0]);
    ///
    /// let space = Space { element: Element::U8 { scale: 0.5 }, ..space };
    /// let mut frame = vec![0; space.frame_bytes()];
    /// space.write(&[1.6, 1000.0], &mut frame)?;
    /// assert_eq!(frame, [3, 255]);
    /// # Ok::<(), adfq_env::Error>(())
    /// ```
    #[inline]
    pub fn write(&self, numbers: &[f32], frame: &mut [u8]) -> Result<()> {
        self.check_frame(frame)?;
        if numbers.len() != self.frame_len() {
            return Err(Error::Numbers { numbers: numbers.len(), expected: self.frame_len() });
        }
        match self.element {
            // The cast keeps within the range of a byte.
            Element::U8 { scale } => {
                frame
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(byte, number)| *byte = (number / scale).round() as u8);
            }
            Element::F32 => {
                let places = frame.as_chunks_mut().0.iter_mut();
                places.zip(numbers).for_each(|(bytes, number)| *bytes = number.to_ne_bytes());
            }
        }
        Ok(())
    }

    /// A frame has to have its length, neither more nor less.
    #[inline]
    pub fn check_frame(&self, frame: &[u8]) -> Result<()> {
        match (frame.len(), self.frame_bytes()) {
            (bytes, expected) if bytes != expected => Err(Error::Frame { bytes, expected }),
            _ => Ok(()),
        }
    }
}
