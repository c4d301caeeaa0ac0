//! Figures as a whole: what the SVG says about the data, and what it must never contain.

use super::*;
use proptest::prelude::*;

fn axis() -> Axis {
    Axis::linear("x")
}

fn figure(layer: impl Into<Layer>) -> Figure {
    Figure::new("A figure").panel(Panel::new("a panel", axis(), axis()).layer(layer))
}

/// The path data of the first element of the class.
fn path<'a>(svg: &'a str, class: &str) -> &'a str {
    let element = svg.split(&format!("class=\"{class}\"")).nth(1).unwrap_or_default();
    element.split(" d=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

#[test]
fn every_layer_says_what_it_is() {
    let panel = Panel::new("all", axis(), axis())
        .layer(Line::new("line <1>", [(0.0, 0.0), (1.0, 1.0)]).dash(Dash::Dotted))
        .layer(Markers::new("dots", [(0.5, 0.5)]))
        .layer(Area::new("density", [(0.0, 0.2), (1.0, 0.4), (2.0, 0.1)]))
        .layer(Rule::vertical("here", 0.7))
        .layer(Note::new("look", 0.1, 0.1));
    let bars =
        Panel::new("bars", axis(), axis()).layer(Bars::new("score", [Bar::new("a", 1.0).interval(0.5, 2.0)]));
    let svg = Figure::new("f").columns(2).panel(panel).panel(bars).svg().unwrap();
    for (kind, label, points) in [
        ("line", "line &lt;1&gt;", 2),
        ("markers", "dots", 1),
        ("area", "density", 3),
        ("rule", "here", 1),
        ("bars", "score", 1),
    ] {
        let tag =
            format!(r#"<g class="series" data-kind="{kind}" data-label="{label}" data-points="{points}">"#);
        assert_eq!(svg.matches(&tag).count(), 1, "{tag}");
    }
    assert!(svg.contains(">look</text>") && svg.contains(r#"class="category""#));
    assert_eq!(svg.matches("class=\"panel\"").count(), 2);
}

#[test]
fn lines_break_where_points_are_missing() {
    let gaps =
        [(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 2.0), (f64::INFINITY, 1.0), (5.0, 1.0), (6.0, 2.0)];
    let svg = figure(Line::new("g", gaps).band(gaps.map(|(_, y)| (y - 0.5, y + 0.5)))).svg().unwrap();
    let line = path(&svg, "stroke");
    assert_eq!(
        (line.matches('M').count(), line.matches(',').count(), line.matches("h0").count()),
        (3, 5, 1),
        "{line}"
    );
    assert_eq!(path(&svg, "band").matches('z').count(), 3);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn on_log_axes_bands_reach_the_bottom_and_lines_break() {
    let line =
        Line::new("g", [(0.0, 1.0), (1.0, 0.1), (2.0, -1.0)]).band([(0.5, 2.0), (-0.1, 0.3), (-2.0, 0.1)]);
    let svg = Figure::new("").panel(Panel::new("", axis(), Axis::log("y")).layer(line)).svg().unwrap();
    assert_eq!(path(&svg, "stroke").matches(',').count(), 2);
    assert_eq!(path(&svg, "band").matches(',').count(), 6);
}

#[test]
fn long_series_stay_small_files() {
    let curve = |phase: f64| (0..200_000).map(move |i| (f64::from(i), (f64::from(i) * 0.37 + phase).sin()));
    let mut figure = Figure::new("long").columns(3);
    for p in 0..6 {
        let mut panel = Panel::new("p", axis(), axis());
        for s in 0..4 {
            let phase = f64::from(p * 4 + s);
            panel = panel.layer(
                Line::new(format!("{s}"), curve(phase)).band(curve(phase).map(|(_, y)| (y - 1.0, y + 1.0))),
            );
        }
        figure = figure.panel(panel.layer(Markers::new("m", curve(0.5))));
    }
    let svg = figure.svg().unwrap();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    assert_eq!(svg.matches(r#"data-points="200000""#).count(), 30);
    // The worst case for runs: every second point is missing.
    let holes = curve(0.0).map(|(x, y)| (x, if x % 2.0 == 0.0 { y } else { f64::NAN }));
    let svg = self::figure(Area::new("holes", holes)).svg().unwrap();
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
}

#[test]
fn legends_list_each_look_once() {
    let panel = || {
        Panel::new("", axis(), axis())
            .layer(Line::new("ADFQ", [(0.0, 1.0)]))
            .layer(Line::new("", [(0.0, 2.0)]))
    };
    let figure =
        Figure::new("f").panel(panel()).panel(panel().layer(Line::new("ADFQ", []).color(Color::Green)));
    let legend = |figure: &Figure| {
        let svg = figure.svg().unwrap();
        svg.split("class=\"legend\"").nth(1).unwrap().matches("<text").count()
    };
    assert_eq!(legend(&figure), 2);
}

proptest! {
    #[test]
    fn any_data_make_a_sound_svg(
        points in proptest::collection::vec((proptest::num::f64::ANY, proptest::num::f64::ANY), 0..20),
        x_log: bool, y_log: bool, width in proptest::num::f64::ANY,
    ) {
        let axis = |log| if log { Axis::log("l") } else { Axis::linear("l") };
        let bars = points.iter().map(|&(x, y)| Bar::new(format!("{x}"), y).interval(y, x));
        let panel = Panel::new("", axis(x_log), axis(y_log))
            .layer(Line::new("a", points.clone()).band(points.clone()))
            .layer(Markers::new("b", points.clone()).shape(Shape::Triangle))
            .layer(Area::new("c", points.clone()));
        let chart = Panel::new("", axis(x_log), axis(y_log)).layer(Bars::new("d", bars));
        let svg = Figure::new("f").panel(panel).panel(chart).panel_size(width, 200.0).svg().unwrap();
        for attribute in svg.split(" d=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            prop_assert!(attribute.chars().all(|c| "MLHVvhmalz0123456789,. -".contains(c)), "{attribute}");
        }
        prop_assert!(roxmltree::Document::parse(&svg).is_ok());
    }
}

/// The first spoke points to the right, the second of four up: 1 is on the rim, 0 in the middle, and what is no number is left out.
#[test]
fn a_radar_stands_where_its_values_are() {
    let spokes = [("east", 1.0), ("north", 0.5), ("west", 0.0), ("south", f64::NAN)];
    let panel = Panel::new("", Axis::default(), Axis::linear("").from(0.0).to(1.0));
    let svg = Figure::new("").panel(panel.layer(Web::new("DQN", spokes))).svg().unwrap();
    let after = |text: &str| svg.split(text).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let rim: f64 = after(" r=\"").parse().unwrap();
    let middle: [f64; 2] = [after("cx=\""), after("cy=\"")].map(|text| text.parse().unwrap());
    let points: Vec<[f64; 2]> = after(" points=\"")
        .split(' ')
        .map(|point| point.split_once(',').unwrap())
        .map(|(x, y)| [x.parse::<f64>().unwrap() - middle[0], middle[1] - y.parse::<f64>().unwrap()])
        .collect();
    let expected = [[rim, 0.0], [0.0, rim / 2.0], [0.0, 0.0]];
    assert_eq!(points.len(), expected.len());
    for (point, expected) in points.iter().flatten().zip(expected.iter().flatten()) {
        assert!((point - expected).abs() < 0.15, "{points:?}");
    }
    assert!(["east", "north", "west", "south"].iter().all(|name| svg.contains(&format!(">{name}</text>"))));
    assert!(!svg.contains("NaN"));
}
