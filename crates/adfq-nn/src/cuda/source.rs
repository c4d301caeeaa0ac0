//! The text of a network's kernels: the templates of `kernels/` and an instance of each product of each layer.

use super::engine::Observations;
use super::plan::{LINE, OpPlan, Plan, Tile, WEIGHTS_STAGES};
use std::fmt::Write;

const TEMPLATES: [&str; 7] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/forward.cu"),
    include_str!("kernels/delta.cu"),
    include_str!("kernels/weights.cu"),
    include_str!("kernels/thin.cu"),
    include_str!("kernels/adam.cu"),
    include_str!("kernels/fused.cu"),
];

/// The whole source.
pub(super) fn source(plan: &Plan, observations: Observations) -> String {
    let mut text = TEMPLATES.join("\n");
    for (i, op) in plan.ops.iter().enumerate() {
        geometry(&mut text, i, op);
        let bytes = op.input == 0 && matches!(observations, Observations::Bytes { .. });
        let relu = op.relu;
        if op.thin {
            let body = format!("thin_forward<G{i}, {relu}, {bytes}>(p)");
            kernel(&mut text, "Forward", &format!("forward{i}"), 256, &body);
            kernel(&mut text, "Thin", &format!("backward{i}"), 256, &format!("thin_backward<G{i}>(p)"));
            continue;
        }
        let kind = kind(op, bytes);
        for (variant, &m) in op.heights().iter().enumerate() {
            let tile = Tile { m, n: op.forward_n };
            let shape = format!("{m}, {}, {}", tile.n, tile.warps_m());
            let body = format!("forward<G{i}, {shape}, {kind}, {relu}, {}>(p)", tile.stages());
            kernel(&mut text, "Forward", &format!("forward{i}_{variant}"), 128, &body);
            let tile = Tile { m, n: op.delta_n };
            if op.input > 0 {
                let shape = format!("{m}, {}, {}", tile.n, tile.warps_m());
                let body = format!("delta<G{i}, {shape}, {}>(p)", tile.stages());
                kernel(&mut text, "Delta", &format!("delta{i}_{variant}"), 128, &body);
            }
        }
        if op.splits > 1 {
            kernel(&mut text, "Forward", &format!("sum{i}"), 128, &format!("forward_sum<G{i}, {relu}>(p)"));
        }
        let tile = op.weights_tile;
        let shape = format!("{}, {}, {}", tile.m, tile.n, tile.warps_m());
        let body = format!("weights<G{i}, {shape}, {kind}, {WEIGHTS_STAGES}>(p)");
        kernel(&mut text, "Weights", &format!("weights{i}"), 128, &body);
    }
    if plan.fused {
        fused(&mut text, plan, observations);
    }
    text
}

/// The two kernels of a small perceptron. Shared memory holds parameters, values, gradients, deltas.
fn fused(text: &mut String, plan: &Plan, observations: Observations) {
    let byte = matches!(observations, Observations::Bytes { .. });
    let input = if byte { "u8" } else { "float" };
    let starts: Vec<_> =
        plan.values.iter().scan(0, |end, len| Some(std::mem::replace(end, *end + len * LINE))).collect();
    let (room, stride, last) = (plan.room(), plan.stride, plan.values.len() - 1);
    let inputs = plan.values[0];

    let ops = plan.ops.iter().enumerate();
    let ends: Vec<_> = plan
        .ops
        .iter()
        .flat_map(|op| {
            let filters = op.geometry.filters;
            [(op.weight, op.weight + op.geometry.patch() * filters), (op.bias, op.bias + filters)]
        })
        .collect();
    let pick = |of: fn(&(usize, usize)) -> usize| {
        let cases: String =
            ends.iter().enumerate().map(|(t, range)| format!("t == {t} ? {} : ", of(range))).collect();
        format!("{cases}0")
    };
    let _ = writeln!(
        text,
        "struct Net {{ static constexpr int TENSORS = {}; \
         static constexpr __device__ int start(int t) {{ return {}; }} \
         static constexpr __device__ int end(int t) {{ return {}; }} }};",
        ends.len(),
        pick(|range| range.0),
        pick(|range| range.1),
    );

    let mut body = format!(
        "int copy = blockIdx.z, view = blockIdx.y, first = blockIdx.x * CHUNK, rows = min(CHUNK, p.rows - first); \
         float* w = shared; float* x = shared + {stride}; \
         fused_copy<{stride}>(w, p.views[view].params + copy * p.params_stride); \
         long long row = (long long)copy * p.rows + first; \
         fused_load<{inputs}>(x, (const {input}*)p.views[view].input + row * {inputs}, rows, p.scale); __syncthreads(); "
    );
    for (i, op) in ops.clone() {
        let (from, to, len) = (starts[op.input], starts[op.output], plan.values[op.output]);
        let _ = write!(
            body,
            "fused_layer<G{i}, {}>(w + {}, w + {}, x + {from}, x + {to}); ",
            op.relu, op.weight, op.bias
        );
        if op.output == last {
            let _ = write!(body, "fused_store<{len}>(p.views[view].output + row * {len}, x + {to}, rows)");
        } else {
            let to_values = format!("p.values[{}] + row * {len}, x + {to}, rows", op.output);
            let _ = write!(body, "if (view == 0) fused_store<{len}>({to_values}); ");
        }
    }
    kernel(text, "FusedForward", "fused_forward", 512, &body);

    let mut body = format!(
        "int copy = blockIdx.x; float* w = shared; float* x = w + {stride}; float* g = x + {room}; float* d = g + {stride}; \
         double* sums = (double*)(d + {room}); \
         fused_copy<{stride}>(w, p.adam.params + copy * p.adam.stride); \
         for (int i = threadIdx.x; i < {stride}; i += FUSED_THREADS) g[i] = 0.0f; \
         for (int first = 0; first < p.rows; first += CHUNK) {{ int rows = min(CHUNK, p.rows - first); \
         long long row = (long long)copy * p.rows + first; \
         fused_load<{inputs}>(x, (const {input}*)p.input + row * {inputs}, rows, p.scale); "
    );
    for (i, len) in plan.values.iter().enumerate().take(last).skip(1) {
        let _ =
            write!(body, "fused_load<{len}>(x + {}, p.values[{i}] + row * {len}, rows, 1.0f); ", starts[i]);
    }
    let (len, at) = (plan.values[last], starts[last]);
    let _ =
        write!(body, "fused_load<{len}>(d + {at}, p.out_grad + row * {len}, rows, 1.0f); __syncthreads(); ");
    for (i, op) in ops.rev() {
        let (x, dy) = (starts[op.input], starts[op.output]);
        let (weight, bias, is_first) = (op.weight, op.bias, op.input == 0);
        let _ = write!(
            body,
            "fused_back<G{i}, {is_first}>(w + {weight}, x + {x}, d + {dy}, d + {x}, g + {weight}, g + {bias}); "
        );
    }
    body += "} fused_adam<Net>(p.adam, w, g, sums)";
    kernel(text, "FusedLearn", "fused_learn", 512, &body);
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

fn kernel(text: &mut String, parameter: &str, name: &str, threads: usize, body: &str) {
    let head = format!(r#"extern "C" __global__ void __launch_bounds__({threads})"#);
    let _ = writeln!(text, "{head} {name}(const __grid_constant__ {parameter} p) {{ {body}; }}");
}
