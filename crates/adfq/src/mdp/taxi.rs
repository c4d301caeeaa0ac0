//! Taxi (Dietterich 2000), as in Gymnasium's table.

use super::{Mdp, MdpBuilder, Outcome};
use crate::Result;

/// The map with the walls between columns: a move along a row needs a `:` on its way.
const MAP: [&[u8; 11]; 5] = [b"|R: | : :G|", b"| : | : : |", b"| : : : : |", b"| | : | : |", b"|Y| : |B: |"];
/// Rows and columns.
const SIDE: usize = 5;
/// Where passengers wait and want to go: R, G, Y, B.
const STOPS: [(usize, usize); 4] = [(0, 0), (0, 4), (4, 0), (4, 3)];
/// The place of a passenger who sits in the taxi.
const ABOARD: usize = 4;

/// Taxi: 5 × 5 cells, a passenger at one of four stops or in the taxi, four destinations: 500 states, six actions,
/// episodic.
///
/// South, north, east and west move the taxi and cost 1, also against a wall. Pickup where the passenger waits and
/// dropoff at a stop cost 1; dropoff at the destination pays 20 and ends the episode. Pickup and dropoff anywhere else cost 10. An
/// episode starts in one of the 300 states in which the passenger waits at a stop that is not the destination. States and
/// actions have Gymnasium's numbers (Taxi-v4 without rain), whose table has no discount: γ is .95 here.
///
/// ```
/// let taxi = adfq::mdp::taxi()?;
/// assert_eq!(taxi.to_string(), "taxi: 500 states, 6 actions, gamma 0.95, episodic");
/// assert_eq!(taxi.starts().len(), 300);
/// # Ok::<(), adfq::Error>(())
/// ```
pub fn taxi() -> Result<Mdp> {
    let actions = ["south", "north", "east", "west", "pickup", "dropoff"];
    let mut mdp = MdpBuilder::new("taxi", SIDE * SIDE * 5 * 4, 6, 0.95).action_labels(actions);
    for number in 0..SIDE * SIDE * 5 * 4 {
        let state = State::decode(number);
        for action in 0..6 {
            mdp.add(number, action, state.outcome(action));
        }
        if state.passenger != ABOARD && state.passenger != state.destination {
            mdp = mdp.start_with(number, 1.0 / 300.0);
        }
    }
    mdp.build()
}

#[derive(Clone, Copy)]
struct State {
    row: usize,
    column: usize,
    /// The stop where the passenger waits, or [`ABOARD`].
    passenger: usize,
    destination: usize,
}

impl State {
    fn decode(number: usize) -> Self {
        let (rest, destination) = (number / 4, number % 4);
        let (rest, passenger) = (rest / 5, rest % 5);
        Self { row: rest / SIDE, column: rest % SIDE, passenger, destination }
    }

    fn number(self) -> usize {
        ((self.row * SIDE + self.column) * 5 + self.passenger) * 4 + self.destination
    }

    fn outcome(self, action: usize) -> Outcome {
        let goes = |next: Self, reward| Outcome::goes(1.0, next.number(), reward);
        let (row, column) = (self.row, self.column);
        match action {
            0 => goes(Self { row: (row + 1).min(SIDE - 1), ..self }, -1.0),
            1 => goes(Self { row: row.saturating_sub(1), ..self }, -1.0),
            2 if MAP[row][2 * column + 2] == b':' => goes(Self { column: column + 1, ..self }, -1.0),
            3 if MAP[row][2 * column] == b':' => goes(Self { column: column - 1, ..self }, -1.0),
            2 | 3 => goes(self, -1.0),
            4 => self.pick_up(),
            _ => self.drop_off(),
        }
    }

    /// The stop at which the taxi is.
    fn stop(self) -> Option<usize> {
        STOPS.iter().position(|&stop| stop == (self.row, self.column))
    }

    fn pick_up(self) -> Outcome {
        match self.stop() {
            Some(stop) if stop == self.passenger => {
                Outcome::goes(1.0, Self { passenger: ABOARD, ..self }.number(), -1.0)
            }
            _ => Outcome::goes(1.0, self.number(), -10.0),
        }
    }

    fn drop_off(self) -> Outcome {
        match self.stop() {
            Some(stop) if self.passenger == ABOARD => {
                let next = Self { passenger: stop, ..self }.number();
                match stop == self.destination {
                    true => Outcome::ends(1.0, next, 20.0),
                    false => Outcome::goes(1.0, next, -1.0),
                }
            }
            _ => Outcome::goes(1.0, self.number(), -10.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mdp::policy_iteration;

    #[test]
    fn states_have_numbers_of_their_own() {
        assert!((0..500).all(|number| State::decode(number).number() == number));
    }

    /// From R to G with the passenger at R and the taxi beside it: counted on the map, pickup and 8 moves around the wall
    /// before the dropoff.
    #[test]
    fn a_ride_from_r_to_g_is_ten_steps() {
        let taxi = taxi().unwrap().with_gamma(1.0).unwrap();
        let start = State { row: 0, column: 0, passenger: 0, destination: 1 }.number();
        let best = policy_iteration(&taxi).unwrap().value[start];
        assert!((best - (20.0 - 9.0)).abs() < 1e-9, "{best}");
    }
}
