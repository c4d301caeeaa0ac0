//! The text of a network's kernels: the templates of `kernels/` and an instance of each product of each layer.

use super::engine::Observations;
use super::plan::{FusedLayout, OpPlan, Plan, Tile, WEIGHTS_STAGES, weight_line};
use super::resident::{Resident, image_delta_threads, image_weights_blocks, image_weights_warps};
use std::fmt::{Display, Write};

const TEMPLATES: [&str; 11] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/forward.cu"),
    include_str!("kernels/delta.cu"),
    include_str!("kernels/weights.cu"),
    include_str!("kernels/pixels.cu"),
    include_str!("kernels/image.cu"),
    include_str!("kernels/image_weights.cu"),
    include_str!("kernels/thin.cu"),
    include_str!("kernels/normal.cu"),
    include_str!("kernels/adam.cu"),
    include_str!("kernels/fused.cu"),
];

/// The whole source.
pub(super) fn source(plan: &Plan, observations: Observations) -> String {
    let mut text = TEMPLATES.join("\n");
    for (i, op) in plan.ops.iter().enumerate() {
        geometry(&mut text, i, op);
        let bytes = op.input == 0 && matches!(observations, Observations::Bytes { .. });
        if op.thin {
            let relu = op.ends_in_relu();
            let body = format!("thin_forward<G{i}, {relu}, {bytes}>(p)");
            kernel(&mut text, "Forward", &format!("forward{i}"), 256, &body);
            kernel(&mut text, "Thin", &format!("backward{i}"), 256, &format!("thin_backward<G{i}>(p)"));
            continue;
        }
        match op.resident {
            Some(Resident::Bytes) => pixels(&mut text, i, op),
            Some(Resident::Values { forward, delta }) => {
                tiled(&mut text, i, op, kind(op, bytes));
                images(&mut text, i, op, forward, delta);
            }
            None => {
                let kind = kind(op, bytes);
                tiled(&mut text, i, op, kind);
                let tile = op.weights_tile;
                let shape = format!("{}, {}, {}", tile.m, tile.n, tile.warps_m());
                let body = format!("weights<G{i}, {shape}, {kind}, {WEIGHTS_STAGES}>(p)");
                kernel(&mut text, "Weights", &format!("weights{i}"), 128, &body);
            }
        }
    }
    if plan.fused {
        fused(&mut text, plan, observations);
    }
    text
}

/// The forward product and the delta, tile by tile.
fn tiled(text: &mut String, i: usize, op: &OpPlan, kind: &str) {
    let relu = op.ends_in_relu();
    for (variant, &m) in op.heights().iter().enumerate() {
        let tile = Tile { m, n: op.forward_n };
        let shape = format!("{m}, {}, {}", tile.n, tile.warps_m());
        let body = format!("forward<G{i}, {shape}, {kind}, {relu}, {}>(p)", tile.stages());
        kernel(text, "Forward", &format!("forward{i}_{variant}"), 128, &body);
        let tile = Tile { m, n: op.delta_n };
        if op.input > 0 {
            let shape = format!("{m}, {}, {}", tile.n, tile.warps_m());
            let body = format!("delta<G{i}, {shape}, {}>(p)", tile.stages());
            kernel(text, "Delta", &format!("delta{i}_{variant}"), 128, &body);
        }
    }
    if op.sums_apart() {
        kernel(text, "Forward", &format!("sum{i}"), 128, &format!("forward_sum<G{i}, {relu}>(p)"));
    }
}

/// A first convolution that keeps whole images of bytes.
fn pixels(text: &mut String, i: usize, op: &OpPlan) {
    let body = format!("pixels_forward<G{i}, {}>(p)", op.relu);
    kernel(text, "Forward", &format!("forward{i}"), "128, 2", &body);
    kernel(text, "Weights", &format!("weights{i}"), "128, 2", &format!("pixels_weights<G{i}>(p)"));
}

/// A convolution that keeps whole images, so many of them in a block.
fn images(text: &mut String, i: usize, op: &OpPlan, forward: usize, delta: usize) {
    let (g, relu) = (&op.geometry, op.relu);
    let body = format!("image_forward<G{i}, {forward}, {relu}>(p)");
    kernel(text, "Forward", &format!("forward{i}"), format!("{}, 2", 128 * forward), &body);
    let threads = image_delta_threads(g, delta);
    let body = format!("image_delta<G{i}, {delta}>(p)");
    kernel(text, "Delta", &format!("delta{i}"), format!("{threads}, 2"), &body);
    for (variant, blocks) in image_weights_blocks(g).into_iter().enumerate() {
        let warps = image_weights_warps(g) / blocks;
        let body = format!("image_weights<G{i}, {warps}>(p)");
        kernel(text, "Weights", &format!("weights{i}_{variant}"), format!("{}, 1", 32 * warps), &body);
    }
}

/// The two kernels of a small perceptron. Shared memory holds parameters, values, gradients, deltas.
fn fused(text: &mut String, plan: &Plan, observations: Observations) {
    let byte = matches!(observations, Observations::Bytes { .. });
    let input = if byte { "u8" } else { "float" };
    let FusedLayout { weights, values, .. } = plan.fused_layout();
    let (ops, last, inputs) = (plan.ops.iter().enumerate(), plan.values.len() - 1, plan.values[0]);
    net(text, plan);
    let mut body = format!(
        "int copy = blockIdx.z, view = blockIdx.y, first = blockIdx.x * CHUNK, rows = min(CHUNK, p.rows - first); \
         float* w = shared; float* x = shared + {}; long long row = (long long)copy * p.rows + first; \
         fused_load<{inputs}>(x, (const {input}*)p.views[view].input + row * {inputs}, rows, p.scale); \
         Fours<Net> params; params.load(p.views[view].params + copy * p.params_stride); params.spread(w); \
         copy_commit(); copy_wait<0>(); __syncthreads(); ",
        plan.fused_layout().params
    );
    for (i, op) in ops.clone() {
        let (from, to, len) = (values[op.input], values[op.output], plan.values[op.output]);
        let [weight, bias] = weights[i];
        let relu = op.relu;
        let _ = write!(body, "fused_layer<G{i}, {relu}>(w + {weight}, w + {bias}, x + {from}, x + {to}); ");
        if op.output == last {
            let _ = write!(body, "fused_store<{len}>(p.views[view].output + row * {len}, x + {to}, rows)");
        } else {
            let to_values = format!("p.values[{}] + row * {len}, x + {to}, rows", op.output);
            let _ = write!(body, "if (view == 0) fused_store<{len}>({to_values}); ");
        }
    }
    kernel(text, "FusedForward", "fused_forward", 512, &body);
    fused_learn(text, plan, input);
}

/// Everything that is read from far away is asked for at the beginning.
fn fused_learn(text: &mut String, plan: &Plan, input: &str) {
    let FusedLayout { params, weights, values, room } = plan.fused_layout();
    let (stride, last, inputs) = (plan.stride, plan.values.len() - 1, plan.values[0]);
    // No gradient of the input is wanted.
    let deltas = room - values.get(1).copied().unwrap_or(room);
    let mut body = format!(
        "int copy = blockIdx.x; float* w = shared; float* x = w + {params}; float* d = x + {deltas}; \
         float* g = x + {room} + {deltas}; double* sums = (double*)(g + {stride}); \
         float* rates = (float*)(sums + FUSED_WARPS * Net::TENSORS); \
         Fours<Net> params, m, v; params.load(p.adam.params + copy * p.adam.stride); u64 step = p.adam.steps[copy]; \
         for (int first = 0; first < p.rows; first += CHUNK) {{ int rows = min(CHUNK, p.rows - first); \
         long long row = (long long)copy * p.rows + first; \
         fused_load<{inputs}>(x, (const {input}*)p.input + row * {inputs}, rows, p.scale); "
    );
    for (i, len) in plan.values.iter().enumerate().take(last).skip(1) {
        let _ =
            write!(body, "fused_load<{len}>(x + {}, p.values[{i}] + row * {len}, rows, 1.0f); ", values[i]);
    }
    let (len, at) = (plan.values[last], values[last]);
    let _ = write!(
        body,
        "fused_load<{len}>(d + {at}, p.out_grad + row * {len}, rows, 1.0f); copy_commit(); \
         if (first == 0) {{ m.load(p.adam.m + copy * p.adam.stride); v.load(p.adam.v + copy * p.adam.stride); \
         for (int i = threadIdx.x; i < {stride}; i += FUSED_THREADS) g[i] = 0.0f; params.spread(w); \
         if (threadIdx.x == FUSED_THREADS - 32) rates[0] = step_rate(p.adam, blockIdx.x, step); \
         if (threadIdx.x == FUSED_THREADS - 64) rates[1] = step_root(p.adam.settings, step); }} \
         copy_wait<0>(); __syncthreads(); "
    );
    for (i, op) in plan.ops.iter().enumerate().rev() {
        let (x, dy, is_first) = (values[op.input], values[op.output], op.input == 0);
        let (weight, to, bias) = (weights[i][0], op.weight, op.bias);
        let _ = write!(
            body,
            "fused_back<G{i}, {is_first}>(w + {weight}, x + {x}, d + {dy}, d + {x}, g + {to}, g + {bias}); "
        );
    }
    body += "} fused_adam(p.adam, params, m, v, g, sums, rates, step)";
    kernel(text, "FusedLearn", "fused_learn", 512, &body);
}

/// Where the tensors of a small perceptron lie, in global and in shared memory.
fn net(text: &mut String, plan: &Plan) {
    let layout = plan.fused_layout();
    let tensors: Vec<[usize; 5]> = plan
        .ops
        .iter()
        .zip(&layout.weights)
        .flat_map(|(op, &[weight, bias])| {
            let filters = op.geometry.filters;
            let end = op.weight + op.geometry.patch() * filters;
            [
                [op.weight, end, filters, weight, weight_line(filters)],
                [op.bias, op.bias + filters, filters, bias, filters],
            ]
        })
        .collect();
    let _ = write!(text, "struct Net {{ static constexpr int TENSORS = {}; ", tensors.len());
    for (field, name) in ["start", "end", "width", "place", "line"].into_iter().enumerate() {
        let cases: String = tensors
            .iter()
            .enumerate()
            .map(|(t, tensor)| format!("t == {t} ? {} : ", tensor[field]))
            .collect();
        let _ =
            write!(text, "static constexpr __host__ __device__ int {name}(int t) {{ return {cases}1; }} ");
    }
    *text += "};\n";
}

/// How a layer reads its input.
fn kind(op: &OpPlan, bytes: bool) -> &'static str {
    match (bytes, op.geometry.channels.is_multiple_of(4)) {
        (true, true) => "BYTES4",
        (true, false) => "BYTES",
        (false, true) if op.input > 0 => "VALUES4",
        (false, _) => "FLOATS",
    }
}

fn geometry(text: &mut String, i: usize, op: &OpPlan) {
    let g = op.geometry;
    let fields = [
        ("H", g.height),
        ("W", g.width),
        ("C", g.channels),
        ("OH", g.out_height),
        ("OW", g.out_width),
        ("F", g.filters),
        ("KS", g.kernel),
        ("S", g.stride),
        ("PY", g.above),
        ("PX", g.left),
    ];
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "struct G{i} {{ static constexpr int {}; }};", fields.join(", "));
}

fn kernel(text: &mut String, parameter: &str, name: &str, bounds: impl Display, body: &str) {
    let head = format!(r#"extern "C" __global__ void __launch_bounds__({bounds})"#);
    let _ = writeln!(text, "{head} {name}(const __grid_constant__ {parameter} p) {{ {body}; }}");
}

#[cfg(test)]
mod tests {
    use super::super::compile::compile_now;
    use super::super::engine::Precision;
    use super::*;
    use crate::{Head, Layer, Network, Padding, Spec};

    /// Shared memory of a block on an H100.
    const SHARED: usize = 227 << 10;

    fn sources() -> Vec<(&'static str, String)> {
        let conv = |filters, kernel, stride, padding| Layer::Conv { filters, kernel, stride, padding };
        let dense = Layer::dense;
        let grid = vec![conv(16, 3, 1, Padding::Valid), dense(128)];
        let atari = vec![
            conv(32, 8, 4, Padding::Same),
            conv(64, 4, 2, Padding::Same),
            conv(64, 3, 1, Padding::Same),
            dense(256),
        ];
        let specs = [
            ("perceptron", vec![4], vec![dense(64), dense(64)], None),
            ("grid", vec![10, 10, 4], grid.clone(), None),
            ("odd grid", vec![10, 10, 7], grid, Some(20)),
            ("atari", vec![84, 84, 4], atari, None),
            ("normal", vec![4], vec![dense(64), Layer::Dense { units: 64, normalised: true }], None),
        ];
        let mut sources = vec![];
        for (name, input, layers, dueling) in specs {
            let network =
                Network::new(&Spec { input, layers, head: Head { actions: 6, groups: 2, dueling } });
            for observations in [Observations::Floats, Observations::Bytes { scale: 1.0 }] {
                let plan = Plan::of(&network.clone().unwrap(), observations, Precision::Tf32, SHARED);
                sources.push((name, source(&plan, observations)));
            }
        }
        sources
    }

    /// No GPU is needed for it, but NVIDIA's compiler.
    #[test]
    fn kernels_compile() {
        if !super::super::launch::libraries().1 {
            return println!("not tested: no libnvrtc");
        }
        for (name, source) in sources() {
            let options = ["--gpu-architecture=sm_90".to_owned(), "--std=c++17".to_owned()];
            compile_now(&source, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}
