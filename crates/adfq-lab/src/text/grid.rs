//! Grid worlds as maps: in each cell an arrow for the action that is chosen there.
//!
//! States that share a cell, as those of a maze with different flags collected do, are drawn on maps of their own.

use super::MOST_MAPS;
use adfq::mdp::{Mdp, Outcome};

/// What to draw in the cell of one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// This action; `wrong` if it is not optimal.
    Action {
        /// The action.
        action: usize,
        /// Whether to mark it as a mistake.
        wrong: bool,
    },
    /// Nothing is known here.
    Unknown,
    /// Nothing is to be chosen here: the cell looks as on the map of the MDP.
    Nothing,
}

/// Maps are laid out side by side up to this width.
const WIDTH: usize = 100;

/// Maps of an MDP that has a layout, with a mark for each state; the empty string for one that has none.
///
/// ```
/// use adfq_lab::text::{Mark, arrows};
///
/// let grid = adfq::mdp::Grid::parse(&["SOG"])?.mdp("corridor", 0.0, 0.9)?;
/// let marks = [Mark::Action { action: 1, wrong: false }, Mark::Action { action: 3, wrong: true }, Mark::Nothing];
/// assert_eq!(arrows(&grid, &marks, false), "→ ←!G\n");
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub fn arrows(mdp: &Mdp, marks: &[Mark], all: bool) -> String {
    let Some(background) = background(mdp) else { return String::new() };
    let layers = layers(mdp, marks);
    let shown = if all { layers.len() } else { layers.len().min(MOST_MAPS) };
    let maps: Vec<Vec<String>> =
        layers[..shown].iter().map(|layer| map(mdp, &background, marks, layer)).collect();
    let width = maps.iter().flatten().map(|line| line.chars().count()).max().unwrap_or(0);
    let abreast = (WIDTH / (width + 3)).max(1);
    let rows: Vec<String> = maps.chunks(abreast).map(|row| side_by_side(row, width)).collect();
    let mut text = rows.join("\n");
    if shown < layers.len() {
        text += &format!("({} more maps are not shown)\n", layers.len() - shown);
    }
    text
}

/// The map itself, as rows of characters.
fn background(mdp: &Mdp) -> Option<Vec<Vec<char>>> {
    // A state that does not exist is nowhere, so the picture has no agent in it.
    let picture = mdp.layout()?.picture(usize::MAX);
    Some(picture.lines().map(|line| line.chars().collect()).collect())
}

/// States in groups within which no cell comes twice, in order; groups without anything to draw are left out.
pub(crate) fn layers(mdp: &Mdp, marks: &[Mark]) -> Vec<Vec<usize>> {
    let Some(layout) = mdp.layout() else { return vec![] };
    let mut layers: Vec<Vec<usize>> = vec![];
    let mut previous = None;
    for state in (0..mdp.states()).filter(|&state| layout.cell(state).is_some()) {
        // Within a layer cells come in reading order.
        match layers.last_mut() {
            Some(layer) if layout.cell(state) > previous => layer.push(state),
            _ => layers.push(vec![state]),
        }
        previous = layout.cell(state);
    }
    layers.retain(|layer| layer.iter().any(|&state| marks.get(state).is_some_and(|m| *m != Mark::Nothing)));
    layers
}

/// The lines of one map, under a title if its states have one in common.
fn map(mdp: &Mdp, background: &[Vec<char>], marks: &[Mark], layer: &[usize]) -> Vec<String> {
    let blank = |c: &char| match c {
        'W' => "██".to_owned(),
        'O' => "  ".to_owned(),
        other => format!("{other} "),
    };
    let mut cells: Vec<Vec<String>> = background.iter().map(|row| row.iter().map(blank).collect()).collect();
    for &state in layer {
        let place = mdp.layout().and_then(|layout| layout.cell(state));
        let Some(cell) = place.and_then(|(row, column)| cells.get_mut(row)?.get_mut(column)) else {
            continue;
        };
        match marks.get(state) {
            Some(&Mark::Action { action, wrong }) => {
                *cell = format!("{}{}", arrow(mdp, state, action), if wrong { '!' } else { ' ' });
            }
            Some(Mark::Unknown) => *cell = "· ".to_owned(),
            Some(Mark::Nothing) | None => {}
        }
    }
    let lines = cells.iter().map(|row| row.concat().trim_end().to_owned());
    title(mdp, layer).into_iter().chain(lines).collect()
}

/// What the states of a layer have in common after the "+" of their labels: the flags collected.
pub(crate) fn title(mdp: &Mdp, layer: &[usize]) -> Option<String> {
    let flags = |state: usize| mdp.state_label(state).split_once('+').map(|(_, flags)| flags.to_owned());
    let has_flags = (0..mdp.states()).any(|state| flags(state).is_some());
    let first = flags(*layer.first()?);
    has_flags.then(|| first.map_or("no flag".to_owned(), |flags| format!("with {flags}")))
}

/// An arrow for an action: by its name, else by where it most likely leads, else the first letter of its name.
pub(crate) fn arrow(mdp: &Mdp, state: usize, action: usize) -> char {
    let label = mdp.action_label(action);
    match label.as_ref() {
        "up" => '↑',
        "right" => '→',
        "down" => '↓',
        "left" => '←',
        _ => led_to(mdp, state, action).unwrap_or_else(|| label.chars().next().unwrap_or('?')),
    }
}

/// The direction of the most likely outcome, if both cells are on the map.
fn led_to(mdp: &Mdp, state: usize, action: usize) -> Option<char> {
    let likelier =
        |best: Outcome, other: &Outcome| if other.probability > best.probability { *other } else { best };
    let outcomes = mdp.outcomes(state, action);
    let outcome = outcomes.iter().fold(*outcomes.first()?, likelier);
    let layout = mdp.layout()?;
    let ((row, column), (to_row, to_column)) = (layout.cell(state)?, layout.cell(outcome.next_state)?);
    let arrows = [['↖', '↑', '↗'], ['←', '○', '→'], ['↙', '↓', '↘']];
    let step = |from: usize, to: usize| if to < from { 0 } else { 1 + usize::from(to > from) };
    Some(arrows[step(row, to_row)][step(column, to_column)])
}

/// Maps next to each other, each padded to `width`.
fn side_by_side(maps: &[Vec<String>], width: usize) -> String {
    let height = maps.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for row in 0..height {
        let line: Vec<String> =
            maps.iter().map(|map| format!("{:<width$}", map.get(row).map_or("", String::as_str))).collect();
        text += line.join("   ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use adfq::mdp::{Grid, named};

    const RIGHT: Mark = Mark::Action { action: 1, wrong: false };

    #[test]
    fn one_map_for_each_set_of_flags() {
        let mdp = Grid::parse(&["SF", "WG"]).unwrap().mdp("tiny", 0.0, 0.9).unwrap();
        let down = Mark::Action { action: 2, wrong: true };
        // Cells: start, flag, goal; first without the flag, then with it.
        let marks = [RIGHT, Mark::Nothing, Mark::Nothing, Mark::Unknown, down, Mark::Nothing];
        assert_eq!(arrows(&mdp, &marks, false), "no flag   with A\n→ F       · ↓!\n██G       ██G\n");
    }

    #[test]
    fn an_unnamed_action_points_where_it_leads() {
        let sea = named("deepsea-3").unwrap();
        // Down there both actions end the dive, in no cell: so the action's own number.
        let text = arrows(&sea, &[RIGHT; 7], false);
        assert_eq!(text, "↘ ████\n↘ ↘ ██\n1 1 1\n");
        assert_eq!(led_to(&sea, 2, 0), Some('↙'));
        assert_eq!(led_to(&sea, 1, 0), Some('↓'));
    }

    #[test]
    fn without_a_layout_there_is_no_map() {
        assert_eq!(arrows(&named("loop").unwrap(), &[RIGHT; 9], true), "");
    }

    #[test]
    fn many_maps_are_cut_and_said_to_be() {
        let mdp = Grid::parse(&["SFFFFFG"]).unwrap().mdp("flags", 0.0, 0.9).unwrap();
        let marks = vec![RIGHT; mdp.states()];
        assert!(arrows(&mdp, &marks, false).ends_with("(16 more maps are not shown)\n"));
        assert!(!arrows(&mdp, &marks, true).contains("more maps"));
    }
}
