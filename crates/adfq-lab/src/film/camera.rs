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
        let estimates = estimates(seen.row, seen.env.space().actions);
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

/// A network's row is μ and then −log σ of every action, or Q of every action.
fn estimates(row: &[f32], actions: usize) -> Vec<Estimate> {
    let sd = |action: usize| row.get(actions + action).map(|&output| libm::exp(-f64::from(output)));
    (0..actions.min(row.len())).map(|action| Estimate { mean: row[action].into(), sd: sd(action) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_the_network_writes_them() {
        let belief = estimates(&[1.0, 2.0, 0.0, 1.0], 2);
        assert_eq!(belief[0], Estimate { mean: 1.0, sd: Some(1.0) });
        assert!((belief[1].sd.unwrap() - libm::exp(-1.0)).abs() < 1e-12);
        assert_eq!(estimates(&[1.0, 2.0], 2)[1], Estimate { mean: 2.0, sd: None });
    }
}
