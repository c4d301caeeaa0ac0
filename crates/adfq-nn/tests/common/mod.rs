//! A reference in f64, written to be obviously right and for nothing else; and random networks.
#![allow(dead_code)]

use adfq_nn::{Head, Layer, Network, Padding, Spec};
use proptest::prelude::*;

/// The outputs of one row.
pub fn forward(spec: &Spec, params: &[f64], row: &[f64]) -> Vec<f64> {
    let mut unread = params;
    let mut take = |n: usize| {
        let (taken, rest) = unread.split_at(n);
        unread = rest;
        taken
    };
    let mut shape = spec.input.clone();
    let mut x = row.to_vec();
    for layer in &spec.layers {
        x = match *layer {
            Layer::Dense { units, normalised } => {
                shape = vec![units];
                let (w, b) = (take(x.len() * units), take(units));
                let sums = dense(&x, w, b);
                relu(if normalised { normal(&sums) } else { sums })
            }
            Layer::Conv { filters, kernel, stride, padding } => {
                let (w, b) = (take(kernel * kernel * shape[2] * filters), take(filters));
                let (y, size) = conv(&x, &shape, w, b, (filters, kernel, stride, padding));
                shape = size;
                relu(y)
            }
        };
    }
    let Head { actions, groups, dueling } = spec.head;
    let Some(units) = dueling else {
        let (w, b) = (take(x.len() * groups * actions), take(groups * actions));
        return dense(&x, w, b);
    };
    let mut outputs = Vec::new();
    for _ in 0..groups {
        let mut stream = |width| {
            let (w, b) = (take(x.len() * units), take(units));
            let hidden = relu(dense(&x, w, b));
            let (w, b) = (take(units * width), take(width));
            dense(&hidden, w, b)
        };
        let (value, advantages) = (stream(1)[0], stream(actions));
        let mean = advantages.iter().sum::<f64>() / actions as f64;
        outputs.extend(advantages.iter().map(|a| value + a - mean));
    }
    outputs
}

fn relu(x: Vec<f64>) -> Vec<f64> {
    x.into_iter().map(|x| x.max(0.0)).collect()
}

/// Mean 0 and variance 1.
fn normal(z: &[f64]) -> Vec<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let m = mean(z);
    let variance = mean(&z.iter().map(|z| (z - m).powi(2)).collect::<Vec<_>>());
    z.iter().map(|z| (z - m) / (variance + 1e-5).sqrt()).collect()
}

fn dense(x: &[f64], w: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    (0..n).map(|j| b[j] + x.iter().enumerate().map(|(i, x)| x * w[i * n + j]).sum::<f64>()).collect()
}

/// Zeros before the image and the number of positions along an axis, as TensorFlow's documentation defines them.
fn axis(size: usize, kernel: usize, stride: usize, padding: Padding) -> (usize, usize) {
    match padding {
        Padding::Valid => (0, (size - kernel + 1).div_ceil(stride)),
        Padding::Same => {
            let zeros = if size.is_multiple_of(stride) {
                kernel.saturating_sub(stride)
            } else {
                kernel.saturating_sub(size % stride)
            };
            (zeros / 2, size.div_ceil(stride))
        }
    }
}

fn conv(
    x: &[f64],
    shape: &[usize],
    w: &[f64],
    b: &[f64],
    (filters, kernel, stride, padding): (usize, usize, usize, Padding),
) -> (Vec<f64>, Vec<usize>) {
    let [height, width, channels] = [shape[0], shape[1], shape[2]];
    let ((above, rows), (left, columns)) =
        (axis(height, kernel, stride, padding), axis(width, kernel, stride, padding));
    let pixel = |y: usize, x_: usize, c: usize| {
        let (y, x_) = (y.checked_sub(above)?, x_.checked_sub(left)?);
        (y < height && x_ < width).then(|| x[(y * width + x_) * channels + c])
    };
    let mut out = Vec::new();
    for oy in 0..rows {
        for ox in 0..columns {
            for f in 0..filters {
                let mut sum = b[f];
                for ky in 0..kernel {
                    for kx in 0..kernel {
                        for c in 0..channels {
                            let value = pixel(oy * stride + ky, ox * stride + kx, c).unwrap_or(0.0);
                            sum += value * w[((ky * kernel + kx) * channels + c) * filters + f];
                        }
                    }
                }
                out.push(sum);
            }
        }
    }
    (out, vec![rows, columns, filters])
}

/// Central differences of Σ weights · outputs over all rows with respect to each parameter.
pub fn gradient(spec: &Spec, params: &[f32], input: &[f32], weights: &[f32]) -> Vec<f64> {
    let mut params: Vec<f64> = params.iter().map(|&p| p.into()).collect();
    let input: Vec<f64> = input.iter().map(|&x| x.into()).collect();
    let inputs = spec.input.iter().product();
    let loss = |params: &[f64]| {
        let outputs = input.chunks_exact(inputs).flat_map(|row| forward(spec, params, row));
        outputs.zip(weights).map(|(y, &w)| y * f64::from(w)).sum::<f64>()
    };
    let h = 1e-6;
    (0..params.len())
        .map(|i| {
            let p = params[i];
            params[i] = p + h;
            let above = loss(&params);
            params[i] = p - h;
            let below = loss(&params);
            params[i] = p;
            (above - below) / (2.0 * h)
        })
        .collect()
}

/// Small networks of every kind.
pub fn any_spec() -> impl Strategy<Value = Spec> {
    let padding = prop_oneof![Just(Padding::Valid), Just(Padding::Same)];
    let conv = (1..=5_usize, 1..=3_usize, 1..=3_usize, padding)
        .prop_map(|(filters, kernel, stride, padding)| Layer::Conv { filters, kernel, stride, padding });
    let dense =
        (1..=20_usize, any::<bool>()).prop_map(|(units, normalised)| Layer::Dense { units, normalised });
    let image = prop::collection::vec(1..=7_usize, 2..=2)
        .prop_flat_map(|size| (1..=3_usize).prop_map(move |channels| vec![size[0], size[1], channels]));
    let input = prop_oneof![(1..=9_usize).prop_map(|n| vec![n]), image];
    let head = (1..=4_usize, 1..=2_usize, prop::option::of(1..=6_usize))
        .prop_map(|(actions, groups, dueling)| Head { actions, groups, dueling });
    (input, prop::collection::vec(conv, 0..=3), prop::collection::vec(dense, 0..=2), head)
        .prop_map(|(input, convs, denses, head)| {
            let convs = if input.len() == 3 { convs } else { Vec::new() };
            Spec { input, layers: convs.into_iter().chain(denses).collect(), head }
        })
        .prop_filter("a kernel fits its image", |spec| Network::new(spec).is_ok())
}
