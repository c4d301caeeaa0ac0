//! The learning curves of one environment as a figure, with a caption that says what is seen.

use super::{Comparison, Entry, Environment};
use crate::plot::{Axis, Bar, Bars, Color, Dash, Figure, Line, Panel};
use adfq_report::text::count;

/// From this number of seeds on, a band says more than lines of single seeds.
const ENOUGH_FOR_BANDS: usize = 5;
/// More lines of single seeds, or more bands, hide what they are to show.
const MOST_HAIRLINES: usize = 12;
const MOST_BANDS: usize = 5;

/// What stands around the mean curves.
#[derive(Clone, Copy, PartialEq)]
enum Spread {
    /// There is one seed of each label.
    None,
    /// A hairline for each seed: there are few.
    Seeds,
    /// The 95 % bootstrap interval of the mean.
    Bands,
    /// Nothing: there are too many labels for any of it.
    Crowded,
}

impl Spread {
    fn of(entries: &[Entry]) -> Self {
        let seeds = || entries.iter().map(|entry| entry.runs.len());
        match seeds().max().unwrap_or(0) {
            0..2 => Self::None,
            2..ENOUGH_FOR_BANDS if seeds().sum::<usize>() <= MOST_HAIRLINES => Self::Seeds,
            _ if entries.len() <= MOST_BANDS => Self::Bands,
            _ => Self::Crowded,
        }
    }
}

/// The figure of an environment, entitled with its name. One evaluation makes no curve: it is shown as dots.
pub fn figure(comparison: &Comparison, environment: &Environment) -> Figure {
    let panel = match environment.steps[..] {
        [step] => dots(comparison, environment, step),
        _ => curves(comparison, environment),
    };
    Figure::new(environment.env.as_str()).panel(panel).panel_size(640.0, 360.0)
}

/// What the figure of an environment shows.
pub fn caption(comparison: &Comparison, environment: &Environment) -> String {
    let (entries, what) = (&environment.entries, comparison.returns.axis());
    let seeds = seeds(entries);
    if let [step] = environment.steps[..] {
        let bars = if entries.iter().any(|it| it.curve[0].interval.is_some()) {
            "; bars are 95 % bootstrap intervals of the mean"
        } else {
            ""
        };
        return format!(
            "{}: mean {what} over {seeds}, at step {}, the only one{bars}.",
            environment.env,
            count(step)
        );
    }
    let around = match Spread::of(entries) {
        Spread::None => return format!("{}: {what} of one seed of each label.", environment.env),
        Spread::Seeds => "hairlines are single seeds",
        Spread::Bands => "bands are 95 % bootstrap intervals of the mean",
        Spread::Crowded => "the table has the intervals",
    };
    format!("{}: lines are means of the {what} over {seeds}, {around}.", environment.env)
}

/// `3 seeds`, or `3 to 5 seeds` where labels differ.
fn seeds(entries: &[Entry]) -> String {
    let counts = || entries.iter().map(|entry| entry.runs.len());
    match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
        (1, 1) => "1 seed".to_owned(),
        (least, most) if least == most => format!("{most} seeds"),
        (least, most) => format!("{least} to {most} seeds"),
    }
}

fn dots(comparison: &Comparison, environment: &Environment, step: u64) -> Panel {
    let bar = |entry: &Entry| {
        let score = entry.curve[0];
        let bar = Bar::new(entry.label.as_str(), score.value);
        score.interval.map_or(bar.clone(), |it| bar.interval(it.low, it.high))
    };
    let axis = format!("{} at step {}", comparison.returns.axis(), count(step));
    Panel::new("", Axis::linear(axis), Axis::linear(""))
        .layer(Bars::new("", environment.entries.iter().map(bar)).dots())
}

/// For each label its mean over seeds and what stands around it. A label has the same look in every environment.
fn curves(comparison: &Comparison, environment: &Environment) -> Panel {
    let entries = &environment.entries;
    let at = |values: &[f64]| -> Vec<(f64, f64)> {
        environment.steps.iter().map(|&step| step as f64).zip(values.iter().copied()).collect()
    };
    let slot = |entry: &Entry| comparison.labels.iter().position(|label| *label == entry.label).unwrap_or(0);
    let spread = Spread::of(entries);
    let mut panel = Panel::new("", Axis::linear("environment step"), Axis::linear(comparison.returns.axis()));
    for entry in entries.iter().filter(|entry| spread == Spread::Seeds && entry.runs.len() > 1) {
        for run in &entry.runs {
            panel = panel.layer(Line::new("", at(&run.curve)).color(Color::slot(slot(entry))).faint());
        }
    }
    for entry in entries {
        let means: Vec<f64> = entry.curve.iter().map(|score| score.value).collect();
        let band = entry.curve.iter().filter_map(|score| Some((score.interval?.low, score.interval?.high)));
        let line = look(Line::new(entry.label.as_str(), at(&means)), slot(entry));
        panel = panel.layer(if spread == Spread::Bands { line.band(band) } else { line });
    }
    panel
}

/// The colour and dashes of a label. Lines that lie on each other are told apart: the first, at the bottom, is solid and
/// shows through the gaps of all others, and equal dashes are shifted. Labels of one colour have different dashes.
fn look(line: Line, slot: usize) -> Line {
    let line = line.color(Color::slot(slot));
    match slot {
        0 => line,
        _ => {
            let dash = [Dash::Dashed, Dash::Dotted, Dash::DashDot][(slot - 1) % 3];
            line.dash(dash).shift(((slot - 1) / 3) as f64 * 3.5)
        }
    }
}
