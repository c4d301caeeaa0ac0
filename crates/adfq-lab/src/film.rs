//! Films of what an agent does and believes: the game, and beside it a bar for every action.
//!
//! A [`Camera`] sees the steps of an evaluation. It lets `scene` put the game beside the `panel` and gives the
//! pictures to a [`Film`], which is an MP4 or a GIF and holds no more than the last picture in memory. An MP4 is made
//! here too: `yuv` converts colours, `h264` codes what changed, `mp4` writes the file around it. No other
//! program is needed, and the same pictures give the same bytes everywhere.

mod axis;
mod bits;
mod camera;
mod gif;
mod h264;
mod mp4;
mod panel;
mod pen;
mod reel;
mod scene;
mod yuv;

pub use camera::Camera;
pub use reel::{Film, Footage, Format};
