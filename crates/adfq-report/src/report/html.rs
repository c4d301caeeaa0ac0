//! Writes a report as HTML. Every text passes through [`escape`].

use super::{Link, Provenance, Report, Section};
use crate::Result;
use crate::plot::{Figure, escape};
use crate::table::{Cell, Table};
use crate::text::{short, with_interval};
use crate::verdict::{Claim, Verdict};

const STYLE: &str = include_str!("style.css");

impl Report {
    /// The report as one HTML file. Figures whose axes have impossible limits are an error.
    pub fn html(&self) -> Result<String> {
        let sections = self.sections.iter().enumerate();
        let body: String = sections.map(|(i, section)| write_section(i, section)).collect::<Result<_>>()?;
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n{intro}</header>\n\
             {contents}{body}{provenance}</main>\n</body>\n</html>\n",
            title = escape(&self.title),
            intro = paragraphs(&self.intro),
            contents = self.contents(),
            provenance = write_provenance(&self.provenance),
        ))
    }

    /// The table of contents, with the verdicts of each section.
    fn contents(&self) -> String {
        if self.sections.is_empty() {
            return String::new();
        }
        let entry = |(i, section): (usize, &Section)| {
            let verdicts: String = section.claims.iter().map(|claim| dot(claim.verdict)).collect();
            format!("<li><a href=\"#section-{}\">{}</a> {verdicts}</li>\n", i + 1, escape(&section.title))
        };
        let entries: String = self.sections.iter().enumerate().map(entry).collect();
        format!(
            "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n{}<ol>\n{entries}</ol>\n</nav>\n",
            self.tally()
        )
    }

    /// How many claims got which verdict.
    fn tally(&self) -> String {
        let count = |verdict| {
            let claims = self.sections.iter().flat_map(|section| &section.claims);
            claims.filter(|claim| claim.verdict == verdict).count()
        };
        let tallies: Vec<String> = [Verdict::Holds, Verdict::DoesNotHold, Verdict::NotDecided]
            .into_iter()
            .filter(|&verdict| count(verdict) > 0)
            .map(|verdict| format!("<span class=\"count\">{} {}</span>", count(verdict), badge(verdict)))
            .collect();
        if tallies.is_empty() {
            return String::new();
        }
        format!("<p class=\"tally\">Claims: {}</p>\n", tallies.join(" "))
    }
}

fn write_section(index: usize, section: &Section) -> Result<String> {
    let figures: String = section.figures.iter().map(write_figure).collect::<Result<_>>()?;
    Ok(format!(
        "<section id=\"section-{number}\">\n<h2>{title}</h2>\n{prose}{figures}{claims}{tables}{links}</section>\n",
        number = index + 1,
        title = escape(&section.title),
        prose = paragraphs(&section.paragraphs),
        claims = write_claims(&section.claims),
        tables =
            section.tables.iter().map(|(caption, table)| write_table(caption, table)).collect::<String>(),
        links = write_links(&section.links),
    ))
}

fn paragraphs(texts: &[String]) -> String {
    texts.iter().map(|text| format!("<p>{}</p>\n", escape(text))).collect()
}

/// A figure of several columns is written twice, and the style shows the one that suits the width of the screen.
fn write_figure(figure: &Figure) -> Result<String> {
    let untitled = figure.untitled();
    let narrow = untitled.stacked();
    let pictures = if narrow == untitled {
        untitled.svg()?
    } else {
        let (wide, narrow) = (untitled.svg()?, narrow.svg()?);
        format!("<div class=\"wide\">\n{wide}</div>\n<div class=\"narrow\">\n{narrow}</div>\n")
    };
    let caption = match figure.title.as_str() {
        "" => String::new(),
        title => format!("<figcaption>{}</figcaption>\n", escape(title)),
    };
    Ok(format!("<figure>\n{pictures}{caption}</figure>\n"))
}

fn write_claims(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let item = |claim: &Claim| {
        format!(
            "<li>{badge}<div><strong>{text}</strong><br><span class=\"evidence\">{comparison}: \
             <span class=\"number\">{numbers}</span></span></div></li>\n",
            badge = badge(claim.verdict),
            text = escape(&claim.text),
            comparison = escape(&claim.comparison),
            numbers = with_interval(claim.difference, claim.interval),
        )
    };
    format!("<ul class=\"claims\">\n{}</ul>\n", claims.iter().map(item).collect::<String>())
}

/// The verdict in colour, sign and words, so that none of them is needed alone.
fn badge(verdict: Verdict) -> String {
    format!("<span class=\"badge {}\">{} {verdict}</span>", class(verdict), sign(verdict))
}

fn dot(verdict: Verdict) -> String {
    format!("<span class=\"dot {}\" title=\"{verdict}\">{}</span>", class(verdict), sign(verdict))
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNotHold => "fails",
        Verdict::NotDecided => "open",
    }
}

fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Holds => '✓',
        Verdict::DoesNotHold => '✗',
        Verdict::NotDecided => '?',
    }
}

fn write_table(caption: &str, table: &Table) -> String {
    let head = |(i, name): (usize, &String)| {
        let numbers =
            table.rows().iter().any(|row| matches!(row.get(i), Some(Cell::Count(_) | Cell::Number(_))));
        let class = if numbers { " class=\"number\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", escape(name))
    };
    let heads: String = table.columns().iter().enumerate().map(head).collect();
    let rows: String = table
        .rows()
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", row.iter().map(write_cell).collect::<String>()))
        .collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>{}</caption>\n<thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n",
        escape(caption)
    )
}

fn write_cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "<td></td>".to_owned(),
        Cell::Count(n) => format!("<td class=\"number\">{n}</td>"),
        Cell::Number(x) => format!("<td class=\"number\">{}</td>", short(*x)),
        Cell::Text(text) => format!("<td>{}</td>", escape(text)),
    }
}

fn write_links(links: &[Link]) -> String {
    if links.is_empty() {
        return String::new();
    }
    let link =
        |link: &Link| format!("<a href=\"{}\">{}</a>", escape(&reference(&link.file)), escape(&link.label));
    let links: Vec<String> = links.iter().map(link).collect();
    format!("<p class=\"links\">Files: {}</p>\n", links.join(" · "))
}

/// A file name as a relative reference: what a URL cannot hold is percent-encoded, so it cannot become a scheme,
/// a query or a fragment either.
fn reference(file: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    file.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn write_provenance(provenance: &Provenance) -> String {
    let Provenance { version, seed, trials, command } = provenance;
    format!(
        "<footer>\n<h2>Provenance</h2>\n<dl>\n<dt>Version</dt><dd>{}</dd>\n<dt>Seed</dt><dd>{seed}</dd>\n\
         <dt>Trials</dt><dd>{trials}</dd>\n<dt>Command</dt><dd><code>{}</code></dd>\n</dl>\n\
         <p>The same version, seed and command give the same numbers on any machine.</p>\n</footer>\n",
        escape(version),
        escape(command)
    )
}
