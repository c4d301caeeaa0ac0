//! How much memory a network will take, known from its specification alone: nothing is allocated to find out, and no
//! number is too large to be multiplied.

use crate::layout::positions;
use crate::{Layer, Spec};

/// What a network takes. Numbers beyond `u64::MAX` are that.
///
/// ```
/// use adfq_nn::{Head, Layer, Network, Spec};
///
/// let spec = Spec {
///     input: vec![4],
///     layers: vec![Layer::dense(64)],
///     head: Head { actions: 2, groups: 2, dueling: None },
/// };
/// assert_eq!(spec.size().parameters, Network::new(&spec)?.parameters() as u64);
/// let huge = Spec { layers: vec![Layer::dense(usize::MAX); 3], ..spec };
/// assert_eq!(huge.size().parameters, u64::MAX);
/// # Ok::<(), adfq_nn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Parameters, an f32 each.
    pub parameters: u64,
    /// Numbers that all layers give for one row, an f32 each.
    pub values: u64,
    /// Positions of all convolutions, whose places are kept as two numbers of 8 bytes.
    pub positions: u64,
}

impl Size {
    /// Bytes of the network itself and of `copies` buffers of parameters.
    pub fn parameter_bytes(&self, copies: u64) -> u64 {
        let buffers = self.parameters.saturating_mul(4).saturating_mul(copies);
        buffers.saturating_add(self.positions.saturating_mul(16))
    }

    /// Bytes of a [`Workspace`](crate::Workspace) of so many rows: each value, and its gradient.
    pub fn pass_bytes(&self, rows: u64) -> u64 {
        self.values.saturating_mul(8).saturating_mul(rows)
    }

    fn layer(&mut self, inputs: u64, outputs: u64, positions: u64) {
        let parameters = inputs.saturating_add(1).saturating_mul(outputs);
        self.parameters = self.parameters.saturating_add(parameters);
        self.values = self.values.saturating_add(outputs.saturating_mul(positions));
    }
}

impl Spec {
    /// How much memory the network will take. Layers that do not fit count as nothing: [`Network::new`](crate::Network::new)
    /// says what is wrong with them.
    pub fn size(&self) -> Size {
        let mut size = Size::default();
        let mut shape = match self.input[..] {
            [height, width, channels] => [height, width, channels],
            _ => [1, 1, product(&self.input) as usize],
        };
        for layer in &self.layers {
            match *layer {
                Layer::Dense { units, normalised } => {
                    size.layer(product(&shape), units as u64, 1);
                    let sums = if normalised { units as u64 } else { 0 };
                    size.values = size.values.saturating_add(sums);
                    shape = [1, 1, units];
                }
                Layer::Conv { filters, kernel, stride, padding } => {
                    let fit = |side| if stride > 0 { positions(side, kernel, stride, padding) } else { None };
                    let (Some((height, ..)), Some((width, ..))) = (fit(shape[0]), fit(shape[1])) else {
                        continue;
                    };
                    let places = product(&[height, width]);
                    size.layer(product(&[kernel, kernel, shape[2]]), filters as u64, places);
                    size.positions = size.positions.saturating_add(places);
                    shape = [height, width, filters];
                }
            }
        }
        let (features, head) = (product(&shape), &self.head);
        match head.dueling {
            None => size.layer(features, product(&[head.actions, head.groups]), 1),
            Some(units) => {
                let mut group = Size::default();
                for width in [1, head.actions as u64] {
                    group.layer(features, units as u64, 1);
                    group.layer(units as u64, width, 1);
                }
                let groups = head.groups as u64;
                size.parameters = size.parameters.saturating_add(group.parameters.saturating_mul(groups));
                size.values = size.values.saturating_add(group.values.saturating_mul(groups));
            }
        }
        size
    }
}

fn product(sizes: &[usize]) -> u64 {
    sizes.iter().fold(1, |product: u64, &size| product.saturating_mul(size as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Head, Network, Padding};

    #[test]
    fn parameters_are_those_of_the_network() {
        let conv = |filters, kernel, stride, padding| Layer::Conv { filters, kernel, stride, padding };
        let dense = Layer::dense;
        for (input, layers, dueling) in [
            (vec![7], vec![], None),
            (vec![7], vec![dense(5), dense(9)], Some(11)),
            (
                vec![84, 84, 4],
                vec![conv(32, 8, 4, Padding::Same), conv(64, 4, 2, Padding::Valid), dense(20)],
                None,
            ),
            (vec![10, 9, 6], vec![conv(16, 3, 1, Padding::Valid), dense(128)], Some(3)),
        ] {
            let spec = Spec { input, layers, head: Head { actions: 3, groups: 4, dueling } };
            assert_eq!(spec.size().parameters, Network::new(&spec).unwrap().parameters() as u64, "{spec:?}");
        }
    }

    #[test]
    fn sums_that_are_normalised_are_values_too() {
        let head = Head { actions: 3, groups: 1, dueling: None };
        let [plain, normalised] = [false, true].map(|normalised| {
            let layers = vec![Layer::dense(5), Layer::Dense { units: 9, normalised }];
            Spec { input: vec![7], layers, head }.size()
        });
        assert_eq!((plain.values, normalised.values), (5 + 9 + 3, 5 + 9 + 9 + 3));
        assert_eq!(plain.parameters, normalised.parameters);
    }

    #[test]
    fn no_size_is_too_large_to_be_known() {
        for huge in [1 << 31, 1 << 62, usize::MAX] {
            let head = Head { actions: huge, groups: huge, dueling: Some(huge) };
            let conv = Layer::Conv { filters: huge, kernel: 1, stride: 1, padding: Padding::Same };
            let spec = Spec { input: vec![huge; 3], layers: vec![conv, Layer::dense(huge)], head };
            let size = spec.size();
            assert_eq!(
                (size.parameters, size.parameter_bytes(5), size.pass_bytes(32)),
                (u64::MAX, u64::MAX, u64::MAX)
            );
        }
    }
}
