//! The report as a whole: complete, escaped, self-contained.

use super::*;
use crate::plot::{Axis, Line, Panel};
use crate::stats::{Estimate, Interval};
use crate::verdict::Direction;

fn claim(text: &str, low: f64, high: f64) -> Claim {
    let difference = Estimate { value: (low + high) / 2.0, interval: Interval { low, high } };
    Claim::new(text, "RMSE, ADFQ − Q", Direction::Less, difference)
}

fn report() -> Report {
    let panel = || {
        Panel::new("p", Axis::linear("x"), Axis::linear("y"))
            .layer(Line::new("<l>", [(0.0, 0.0), (1.0, 1.0)]))
    };
    let mut table = Table::new(["agent", "<rmse>"]);
    table.push(["A & B".into(), 0.25.into()]).unwrap();
    let provenance =
        Provenance { version: "1.2.3".into(), seed: 42, trials: 10, command: "adfq --out <dir>".into() };
    let mut report = Report::new("<script>alert(1)</script>", provenance);
    report.intro.push("Intro \"quoted\"".into());
    report.sections.push(
        Section::new("Loop & Maze")
            .paragraph("a < b")
            .figure(Figure::new("wide <figure>").columns(2).panel(panel()).panel(panel()))
            .claim(claim("first", -2.0, -1.0))
            .claim(claim("second", 1.0, 2.0))
            .claim(claim("third", -1.0, 2.0))
            .table("caption <1>", table)
            .link("the data", "javascript:alert(1) \"x\".csv"),
    );
    report.sections.push(Section::new("Single").figure(Figure::new("").panel(panel())));
    report
}

#[test]
fn everything_is_there() {
    let html = report().html().unwrap();
    for part in [
        "<a href=\"#section-1\">Loop &amp; Maze</a>",
        "<section id=\"section-2\">",
        "✓ holds</span>",
        "✗ does not hold</span>",
        "? not decided</span>",
        "−1.50 [−2.00, −1.00]",
        "<caption>caption &lt;1&gt;</caption>",
        "<td>A &amp; B</td><td class=\"number\">0.25</td>",
        "<dd>42</dd>",
        "<code>adfq --out &lt;dir&gt;</code>",
        "<figcaption>wide &lt;figure&gt;</figcaption>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // The figure of two columns has a narrow twin, the other one does not.
    assert_eq!(html.matches("<svg xmlns").count(), 3);
    assert_eq!((html.matches("class=\"wide\"").count(), html.matches("class=\"narrow\"").count()), (1, 1));
}

#[test]
fn no_text_becomes_markup_or_a_script() {
    let html = report().html().unwrap();
    assert!(!html.contains("<script") && !html.contains("<l>") && !html.contains("<rmse>"));
    assert!(html.contains("href=\"javascript%3Aalert%281%29%20%22x%22.csv\""));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let html = report().html().unwrap().replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for outside in ["http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "file:"] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn tags_are_balanced() {
    let html = report().html().unwrap();
    for tag in
        ["main", "section", "figure", "ul", "li", "div", "table", "svg", "g", "span", "p", "ol", "dl", "text"]
    {
        let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn a_bad_axis_is_reported() {
    let mut report = report();
    report.sections[1].figures[0].panels[0].x = Axis::log("steps").from(-1.0);
    assert!(report.html().unwrap_err().to_string().contains("\"steps\""));
}

/// At 1280 pixels the last columns of a wide table, verdicts among them, are on the screen: texts in cells wrap.
#[test]
fn cells_wrap() {
    let html = report().html().unwrap();
    let cells = html.lines().filter(|line| line.starts_with("td") || line.starts_with("th"));
    assert!(cells.clone().count() > 2 && cells.clone().all(|rule| !rule.contains("nowrap")));
    assert!(html.contains("main { max-width: 76rem;"));
}
