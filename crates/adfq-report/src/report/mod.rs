//! A report as data, and from it one HTML file that needs nothing else.
//!
//! No script, no font and no picture is loaded from anywhere: figures are inline SVG, the style is inline CSS, so
//! the file opens from a disk, on a phone and in the dark. What it says is decided by the caller.

mod html;

use crate::plot::Figure;
use crate::table::Table;
use crate::verdict::Claim;

/// A report: sections, and where their numbers come from.
///
/// ```
/// use adfq_report::report::{Provenance, Report, Section};
///
/// let provenance = Provenance { version: "0.1.0".into(), seed: 7, trials: 10, command: "reproduce".into() };
/// let mut report = Report::new("Results <reproduced>", provenance);
/// report.sections.push(Section::new("Loop").paragraph("Nine states in two loops."));
/// let html = report.html()?;
/// assert!(html.starts_with("<!DOCTYPE html>"));
/// assert!(html.contains("<h1>Results &lt;reproduced&gt;</h1>"));
/// # Ok::<(), adfq_report::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The title.
    pub title: String,
    /// The paragraphs before the table of contents.
    pub intro: Vec<String>,
    /// The sections.
    pub sections: Vec<Section>,
    /// How to get the same numbers again.
    pub provenance: Provenance,
}

impl Report {
    /// A report without sections.
    pub fn new(title: impl Into<String>, provenance: Provenance) -> Self {
        Self { title: title.into(), intro: Vec::new(), sections: Vec::new(), provenance }
    }
}

/// What someone needs to get the same numbers again: nothing of it depends on the machine or the day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The version of the program.
    pub version: String,
    /// The seed of the run.
    pub seed: u64,
    /// The number of trials of each experiment.
    pub trials: usize,
    /// The command line that gives the same again.
    pub command: String,
}

/// A section: prose, figures, claims, tables and links to files, shown in this order.
///
/// ```
/// use adfq_report::plot::Figure;
/// use adfq_report::report::Section;
///
/// let section = Section::new("Maze").paragraph("Figure 3 of the paper.").figure(Figure::new("Error")).link("data", "maze.csv");
/// assert_eq!((section.figures.len(), section.links.len()), (1, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Prose, a string per paragraph.
    pub paragraphs: Vec<String>,
    /// The figures; their titles become captions.
    pub figures: Vec<Figure>,
    /// The claims that the section examines.
    pub claims: Vec<Claim>,
    /// Tables with their captions.
    pub tables: Vec<(String, Table)>,
    /// Files beside the report.
    pub links: Vec<Link>,
}

/// A link to a file beside the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What the reader clicks on.
    pub label: String,
    /// The file, relative to the report.
    pub file: String,
}

impl Section {
    /// An empty section.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// With one more paragraph.
    pub fn paragraph(mut self, text: impl Into<String>) -> Self {
        self.paragraphs.push(text.into());
        self
    }

    /// With one more figure.
    pub fn figure(mut self, figure: Figure) -> Self {
        self.figures.push(figure);
        self
    }

    /// With one more claim.
    pub fn claim(mut self, claim: Claim) -> Self {
        self.claims.push(claim);
        self
    }

    /// With one more table.
    pub fn table(mut self, caption: impl Into<String>, table: Table) -> Self {
        self.tables.push((caption.into(), table));
        self
    }

    /// With one more link.
    pub fn link(mut self, label: impl Into<String>, file: impl Into<String>) -> Self {
        self.links.push(Link { label: label.into(), file: file.into() });
        self
    }
}

#[cfg(test)]
mod tests;
