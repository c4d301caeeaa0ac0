//! Draws one of each kind of plot: `cargo run -p adfq-report --example gallery -- FOLDER`.
//!
//! The curves are made up from formulas and seeded noise; they show what the plots can do and measure nothing.

use adfq_report::plot::{
    Anchor, Area, Axis, Bar, Bars, Color, Dash, Figure, Line, Markers, Note, Panel, Rule, Shape,
};
use adfq_report::report::{Provenance, Report, Section};
use adfq_report::stats::Bootstrap;
use adfq_report::table::Table;
use adfq_report::verdict::{Claim, Direction};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("say into which folder to draw")?);
    fs::create_dir_all(&folder)?;
    for (name, figure) in [
        ("curves", curves()),
        ("densities", densities()),
        ("bars", bars()),
        ("intervals", intervals()),
        ("scatter", scatter()),
    ] {
        let path = folder.join(name);
        fs::write(path.with_extension("svg"), figure.svg()?)?;
        println!("{}", path.with_extension("svg").display());
    }
    fs::write(folder.join("report.html"), report()?.html()?)?;
    println!("{}", folder.join("report.html").display());
    Ok(())
}

/// A report with one section per figure, the claims judged from made-up paired trials.
fn report() -> Result<Report, Box<dyn std::error::Error>> {
    let rng = &mut ChaCha8Rng::seed_from_u64(7);
    let mut claim = |text: &str, shift: f64| {
        let b: Vec<f64> = (0..10).map(|_| rng.random_range(0.5..1.5)).collect();
        let a: Vec<f64> = b.iter().map(|b| b + shift + rng.random_range(-0.3..0.3)).collect();
        let difference = Bootstrap::default().paired(&a, &b, rng)?;
        Ok::<_, adfq_report::Error>(Claim::new(
            text,
            "final RMSE, A − B, mean of 10 paired trials",
            Direction::Less,
            difference,
        ))
    };
    let claims = [
        claim("ADFQ errs less than Q-learning at the end of learning", -0.5)?,
        claim("ADFQ errs less than KTD-Q", 0.5)?,
        claim("ADFQ errs less than its numeric twin", 0.0)?,
    ];
    let mut table =
        Table::new(["agent", "trials", "RMSE, mean", "RMSE, sd", "return", "steps to 90 %", "σ² at the end"]);
    for (i, agent) in ["ADFQ", "KTD-Q", "Q-learning, ε = 0.1"].into_iter().enumerate() {
        let x = i as f64 + 1.0;
        table.push([
            agent.into(),
            10_usize.into(),
            (0.031 * x).into(),
            (0.0042 * x).into(),
            (9.0 / x).into(),
            (12_345.0 * x).into(),
            (2.5e-7 * x).into(),
        ])?;
    }
    let mut curves = Section::new("Learning curves").paragraph(
        "Four agents learn in two domains. Lines are means over trials and bands are quartiles; the error is measured \
         against the exact Q* of the domain, the return by greedy evaluation.",
    );
    curves.claims.extend(claims);
    let provenance = Provenance {
        version: env!("CARGO_PKG_VERSION").into(),
        seed: 7,
        trials: 10,
        command: "cargo run -p adfq-report --example gallery -- FOLDER".into(),
    };
    let mut report = Report::new("Gallery of plots", provenance);
    report.intro.push(
        "Made-up data that show what figures, claims and tables look like. Nothing here was measured.".into(),
    );
    report.sections = vec![
        curves.figure(self::curves()).table("At the end of learning", table).link("SVG", "curves.svg"),
        Section::new("Densities").figure(densities()).link("SVG", "densities.svg"),
        Section::new("Scores").figure(bars()).figure(intervals()),
        Section::new("Many decades").figure(scatter()),
    ];
    Ok(report)
}

/// Learning curves with bands, on logarithmic and linear axes, in four panels.
fn curves() -> Figure {
    let agents = ["ADFQ", "ADFQ-numeric", "KTD-Q", "Q-learning, ε = 0.1"];
    let mut figure = Figure::new("Convergence to Q* and greedy return, γ = 0.95").columns(2);
    for (i, domain) in ["Loop", "Maze"].into_iter().enumerate() {
        let mut error = Panel::new(
            format!("{domain}: error of the means μ"),
            Axis::linear("step"),
            Axis::log("RMSE to Q*"),
        );
        let mut score =
            Panel::new(format!("{domain}: evaluation"), Axis::linear("step"), Axis::linear("return"));
        for (slot, agent) in agents.into_iter().enumerate() {
            let dash = if slot == 1 { Dash::Dashed } else { Dash::Solid };
            let rate = 1.0 / (1.0 + slot as f64 + i as f64);
            let noise = &mut ChaCha8Rng::seed_from_u64(10 * i as u64 + slot as u64);
            let xs: Vec<f64> = (0..=400).map(|k| f64::from(k) * 125.0).collect();
            let decay = |x: f64| 20.0 * (-x * rate / 6000.0).exp() + 0.004 * (1.0 + slot as f64);
            let points: Vec<(f64, f64)> =
                xs.iter().map(|&x| (x, decay(x) * noise.random_range(0.85..1.15))).collect();
            let band: Vec<(f64, f64)> = points.iter().map(|&(_, y)| (y * 0.6, y * 1.6)).collect();
            error = error.layer(Line::new(agent, points).band(band).color(Color::slot(slot)).dash(dash));
            let rise = |x: f64| 9.0 * (1.0 - (-x * rate / 9000.0).exp());
            let points: Vec<(f64, f64)> =
                xs.iter().map(|&x| (x, rise(x) + noise.random_range(-0.3..0.3))).collect();
            let band: Vec<(f64, f64)> = points.iter().map(|&(_, y)| (y - 0.6, y + 0.6)).collect();
            score = score.layer(Line::new(agent, points).band(band).color(Color::slot(slot)).dash(dash));
        }
        figure = figure.panel(error).panel(score.layer(Rule::horizontal("optimal policy", 9.0)));
    }
    figure
}

fn normal(mean: f64, sd: f64) -> impl Fn(f64) -> f64 {
    move |x| (-0.5 * ((x - mean) / sd).powi(2)).exp() / (sd * (2.0 * std::f64::consts::PI).sqrt())
}

/// Densities with fillings, a reference and notes.
fn densities() -> Figure {
    let xs = || (0..=300).map(|i| -3.0 + f64::from(i) * 0.03);
    let density = |mean, sd| {
        let p = normal(mean, sd);
        xs().map(move |x| (x, p(x)))
    };
    let target = |x: f64| 0.6 * normal(0.6, 0.7)(x) + 0.4 * normal(3.1, 0.5)(x);
    let panel =
        Panel::new("One update, τ = (s, a, r, s′), a ∈ A", Axis::linear("q"), Axis::linear("density"))
            .layer(Area::new("prior N(μ, σ²)", density(0.5, 1.0)).color(Color::Sky))
            .layer(Area::new("true posterior", xs().map(|x| (x, target(x)))).color(Color::Orange))
            .layer(Area::new("projection, min KL", density(1.6, 1.35)).color(Color::Green).dash(Dash::Dashed))
            .layer(Rule::vertical("E[q]", 1.6).dash(Dash::Dotted))
            .layer(Note::new("second mode", 3.1, 0.36).anchor(Anchor::Middle));
    Figure::new("Assumed density filtering").panel(panel).panel_size(460.0, 300.0)
}

/// Grouped horizontal bars with intervals.
fn bars() -> Figure {
    let scores =
        [("Loop", 0.92, 0.71), ("Maze", 0.64, 0.55), ("Asterix", 0.81, 0.84), ("Space Invaders", 0.77, 0.52)];
    let chart = |pick: fn(&(&str, f64, f64)) -> f64| {
        scores
            .iter()
            .map(move |row| Bar::new(row.0, pick(row)).interval(pick(row) - 0.06, pick(row) + 0.09))
            .collect::<Vec<_>>()
    };
    let panel = Panel::new("", Axis::linear("normalised score (IQM, 95 % interval)"), Axis::default())
        .layer(Bars::new("ADFQ", chart(|row| row.1)).color(Color::Blue))
        .layer(Bars::new("Double DQN", chart(|row| row.2)).color(Color::Orange));
    Figure::new("Scores by task").panel(panel)
}

/// Dots with intervals about zero, some on each side.
fn intervals() -> Figure {
    let claims = [
        ("ADFQ errs less than Q-learning on Loop", -0.8, 0.3),
        ("ADFQ errs less than KTD-Q on Maze", -0.1, 0.35),
        ("Thompson sampling beats ε-greedy", 0.45, 0.2),
        ("κ = 1 is no worse than κ = 0.1", 0.02, 0.05),
    ];
    let dots = claims.map(|(text, at, half)| Bar::new(text, at).interval(at - half, at + half));
    let panel = Panel::new("", Axis::linear("paired difference ± 95 % interval"), Axis::default())
        .layer(Rule::vertical("no difference", 0.0))
        .layer(Bars::new("", dots).dots().color(Color::Blue));
    Figure::new("What the trials say").panel(panel).panel_size(520.0, 240.0)
}

/// Markers of several shapes, on logarithmic axes over many decades.
fn scatter() -> Figure {
    let cloud = |seed: u64, slope: f64| {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let point = |_| {
            let x = rng.random_range(-5.0..3.0_f64);
            (10f64.powf(x), 10f64.powf(slope * x + rng.random_range(-0.5..0.5)))
        };
        (0..120).map(point).collect::<Vec<_>>()
    };
    let panel = Panel::new("", Axis::log("variance σ² before"), Axis::log("variance σ² after"))
        .layer(Markers::new("γ = 0.9", cloud(1, 0.9)).color(Color::Blue))
        .layer(Markers::new("γ = 0.95", cloud(2, 1.2)).color(Color::Vermillion))
        .layer(Markers::new("γ = 0.99", cloud(3, 0.4)).color(Color::Green).shape(Shape::Triangle))
        .layer(Line::new("no change", [(1e-5, 1e-5), (1e3, 1e3)]).color(Color::Grey).dash(Dash::DashDot));
    Figure::new("Many decades").panel(panel)
}
