//! From the steps of an evaluation to a film.

use super::panel::{Estimate, Panel, Step};
use super::scene::Scene;
use super::{Film, Footage, Format};
use crate::Result;
use crate::text::count;
use adfq_deep::evaluate::Seen;
use std::path::{Path, PathBuf};

/// Films every step that it is shown.
pub struct Camera {
    path: PathBuf,
    rate: u32,
    /// What is played, and who plays.
    title: [String; 2],
    /// Set up for the pictures of the first step.
    set: Option<(Scene, Film)>,
}

impl Camera {
    /// A camera for a film at `path`, which ends in `.mp4` or `.gif`, with `rate` frames a second. It says what game is
    /// played, and by which agent after how many steps of training.
    ///
    /// ```
    /// use adfq_lab::film::Camera;
    ///
    /// assert!(Camera::new("breakout.mp4".as_ref(), 25, "minatar/breakout", "adfq", 20_000).is_ok());
    /// assert!(Camera::new("breakout.png".as_ref(), 25, "minatar/breakout", "adfq", 20_000).is_err());
    /// ```
    pub fn new(path: &Path, rate: u32, game: &str, agent: &str, steps: u64) -> Result<Self> {
        Format::of(path)?.check_rate(rate)?;
        let title = [game.to_owned(), format!("{agent} after {} steps", count(steps))];
        Ok(Self { path: path.to_owned(), rate, title, set: None })
    }

    /// Films a step.
    pub fn shoot(&mut self, seen: &Seen) -> Result<()> {
        let game = seen.env.render().map_err(adfq_deep::Error::from)?;
        let estimate = |of: &adfq_deep::algorithm::Estimate| Estimate {
            mean: of.mean.into(),
            sd: (!of.sd.is_nan()).then_some(of.sd.into()),
        };
        let estimates: Vec<_> = seen.estimates.iter().map(estimate).collect();
        let step = Step {
            episode: seen.episode,
            number: seen.step,
            score: seen.total,
            estimates: &estimates,
            chosen: seen.action,
        };
        if let Some((scene, film)) = &mut self.set {
            return film.push(&scene.draw(&game, &step)?);
        }
        let mut scene = Scene::new(&game, Panel::new(self.title.clone(), seen.env.action_names()))?;
        let frame = scene.draw(&game, &step)?;
        let mut film = Film::create(&self.path, frame.width, frame.height, self.rate)?;
        film.push(&frame)?;
        self.set = Some((scene, film));
        Ok(())
    }

    /// Writes the film to its place; without a step there is none.
    pub fn finish(self) -> Result<Footage> {
        self.set.map_or(Ok(Footage::default()), |(_, film)| film.finish())
    }
}
