//! What kind of task an environment is, as far as settings depend on it, and the network for it.

use adfq_env::Space;
use adfq_nn::{Layer, Padding};

/// The least side of an image; what is smaller is a grid of things.
const IMAGE: usize = 16;
/// The least side of a grid on which a kernel of 3 has somewhere to go.
const GRID: usize = 3;

/// What kind of task an environment is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// A few numbers.
    Control,
    /// A small grid, such as MinAtar's.
    Grid,
    /// Pictures with this many pixels on their longer side, in frames of so many bytes.
    Image { side: usize, frame_bytes: usize },
    /// A game of Atari as the paper had it; the name decides.
    Atari { pong: bool },
}

/// Whether this names a game of Atari, with the preprocessing of the paper.
pub fn is_atari(env: &str) -> bool {
    env.to_lowercase().starts_with("atari:")
}

impl Task {
    /// Atari and DeepSea go by their names, all else by what it shows.
    pub fn of(env: &str, space: &Space) -> Self {
        let env = env.to_lowercase();
        match space.frame[..] {
            _ if env.starts_with("atari:") => Self::Atari { pong: env == "atari:pong" },
            // However large the sea is, it is a grid.
            _ if env.starts_with("deepsea") || env.starts_with("bsuite:deep_sea") => Self::Grid,
            [height, width, _] if height.min(width) >= IMAGE => {
                Self::Image { side: height.max(width), frame_bytes: space.frame_bytes() }
            }
            [height, width, _] if height.min(width) >= GRID => Self::Grid,
            _ => Self::Control,
        }
    }

    /// The paper's hidden layers. Its Atari network does not fit small grids: these get the network of the MinAtar paper
    /// (Young and Tian 2019). On larger pictures the first layer takes larger steps, as far as its kernel of 8 allows, so
    /// that it has about the 21 positions a side that it has on Atari.
    pub fn layers(&self) -> Vec<Layer> {
        let conv = |filters, kernel, stride, padding| Layer::Conv { filters, kernel, stride, padding };
        let same = Padding::Same;
        let first = match self {
            Self::Control => return dense(&[64]),
            Self::Grid => return [vec![conv(16, 3, 1, Padding::Valid)], dense(&[128])].concat(),
            Self::Image { side, .. } => side.div_ceil(21).clamp(4, 8),
            Self::Atari { .. } => 4,
        };
        let convolutions = vec![conv(32, 8, first, same), conv(64, 4, 2, same), conv(64, 3, 1, same)];
        [convolutions, dense(&[256])].concat()
    }
}

pub(super) fn dense(units: &[usize]) -> Vec<Layer> {
    units.iter().map(|&units| Layer::dense(units)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq_env::Element;
    use adfq_nn::{Head, Network, Spec};

    fn space(frame: &[usize]) -> Space {
        Space { frame: frame.to_vec(), element: Element::U8 { scale: 1.0 }, stack: 1, actions: 3 }
    }

    #[test]
    fn few_names_decide_and_else_the_space_does() {
        let flat = space(&[4]);
        assert_eq!(Task::of("cartpole", &flat), Task::Control);
        assert_eq!(Task::of("MinAtar/Breakout-v1", &space(&[10, 10, 4])), Task::Grid);
        assert_eq!(Task::of("DeepSea-10", &flat), Task::Grid);
        assert_eq!(Task::of("bsuite:deep_sea_stochastic/20", &space(&[50, 50, 1])), Task::Grid);
        assert_eq!(Task::of("atari:pong", &flat), Task::Atari { pong: true });
        assert_eq!(Task::of("Atari:Breakout", &flat), Task::Atari { pong: false });
        assert_eq!(Task::of("gym:MinAtar/Breakout-v1", &flat), Task::Control);
        assert_eq!(Task::of("gym:x", &space(&[10, 10, 4])), Task::Grid);
        assert_eq!(Task::of("gym:x", &space(&[100, 15, 4])), Task::Grid);
        assert_eq!(Task::of("gym:x", &space(&[2, 10, 1])), Task::Control);
        let picture = Task::Image { side: 210, frame_bytes: 100_800 };
        assert_eq!(Task::of("gym:my_package:Mine-v0", &space(&[210, 160, 3])), picture);
        assert!(is_atari("atari:kung_fu_master") && !is_atari("gym:ALE/Pong-v5"));
    }

    /// Every network can be made, and its last layer is not much larger than on Atari.
    #[test]
    fn networks_fit_what_is_seen() {
        for frame in [
            &[1][..],
            &[128],
            &[2, 2, 1],
            &[3, 3, 7],
            &[16, 16, 1],
            &[84, 84, 4],
            &[96, 96, 3],
            &[210, 160, 3],
        ] {
            let (input, layers) = (frame.to_vec(), Task::of("gym:x", &space(frame)).layers());
            let network =
                Network::new(&Spec { input, layers, head: Head { actions: 3, groups: 2, dueling: None } });
            assert!(network.unwrap().parameters() < 3_000_000, "{frame:?}");
        }
    }
}
