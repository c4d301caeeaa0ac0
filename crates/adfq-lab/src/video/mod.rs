//! Videos of what an agent does and believes: the game, and beside it a bar for every action.
//!
//! A [`Recorder`] sees the steps of an evaluation. `frame` draws the game beside the `overlay` of beliefs on a `canvas`.
//! `file` collects the frames as an MP4 (`mp4`) or a GIF (`gif`) and writes the video when it is complete. No other
//! program is needed. The same pictures give the same bytes.

mod canvas;
mod file;
mod frame;
mod gif;
mod mp4;
mod overlay;

use crate::Result;
use adfq_deep::evaluate::Seen;
use adfq_report::text::count;
use file::{Format, VideoFile};
use frame::Layout;
use overlay::{Estimate, Overlay, Step};
use std::path::{Path, PathBuf};

pub use file::Recorded;

/// Records every step that it is shown.
pub struct Recorder {
    path: PathBuf,
    rate: u32,
    /// The game and the agent.
    title: [String; 2],
    /// Made for the picture of the first step.
    video: Option<(Layout, VideoFile)>,
}

impl Recorder {
    /// A recorder for a video at `path`, which ends in `.mp4` or `.gif`, with `rate` frames a second. The video names the
    /// game, the agent and its steps of training.
    ///
    /// ```
    /// use adfq_lab::video::Recorder;
    ///
    /// assert!(Recorder::new("breakout.mp4".as_ref(), 25, "minatar/breakout", "adfq", 20_000).is_ok());
    /// assert!(Recorder::new("breakout.png".as_ref(), 25, "minatar/breakout", "adfq", 20_000).is_err());
    /// ```
    pub fn new(path: &Path, rate: u32, game: &str, agent: &str, steps: u64) -> Result<Self> {
        Format::of(path)?.check_rate(rate)?;
        let title = [game.to_owned(), format!("{agent} after {} steps", count(steps))];
        Ok(Self { path: path.to_owned(), rate, title, video: None })
    }

    /// Records a step.
    pub fn record(&mut self, seen: &Seen) -> Result<()> {
        let game = seen.env.render().map_err(adfq_deep::Error::from)?;
        let estimates: Vec<_> = seen.estimates.iter().map(shown).collect();
        let step = Step {
            episode: seen.episode,
            number: seen.step,
            score: seen.total,
            estimates: &estimates,
            chosen: seen.action,
        };
        if let Some((layout, file)) = &mut self.video {
            return file.push(&layout.draw(&game, &step)?);
        }
        let mut layout = Layout::new(&game, Overlay::new(self.title.clone(), seen.env.action_names()))?;
        let frame = layout.draw(&game, &step)?;
        let mut file = VideoFile::create(&self.path, frame.width, frame.height, self.rate)?;
        file.push(&frame)?;
        self.video = Some((layout, file));
        Ok(())
    }

    /// Writes the video. Without a step there is none.
    pub fn finish(self) -> Result<Recorded> {
        self.video.map_or(Ok(Recorded::default()), |(_, file)| file.finish())
    }
}

/// What is drawn of what is believed of an action.
fn shown(estimate: &adfq_deep::algorithm::Estimate) -> Estimate {
    let sd = (!estimate.sd.is_nan()).then_some(estimate.sd.into());
    Estimate { mean: estimate.mean.into(), sd }
}
