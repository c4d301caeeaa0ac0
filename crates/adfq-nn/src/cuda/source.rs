//! The text of a network's kernels: the templates of `kernels/` and an instance of each product of each layer.

use super::engine::Observations;
use super::plan::{OpPlan, Plan, Tile};
use std::fmt::Write;

const TEMPLATES: [&str; 6] = [
    include_str!("kernels/common.cu"),
    include_str!("kernels/forward.cu"),
    include_str!("kernels/delta.cu"),
    include_str!("kernels/weights.cu"),
    include_str!("kernels/thin.cu"),
    include_str!("kernels/adam.cu"),
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
            kernel(&mut text, "Forward", &format!("forward{i}"), 128, &body);
            kernel(&mut text, "Thin", &format!("backward{i}"), 256, &format!("thin_backward<G{i}>(p)"));
            continue;
        }
        let kind = kind(op, bytes);
        for (variant, m) in op.heights().into_iter().enumerate() {
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
        let body = format!("weights<G{i}, {shape}, {kind}, {}>(p)", tile.stages());
        kernel(&mut text, "Weights", &format!("weights{i}"), 128, &body);
    }
    text
}

/// How a layer reads its input.
fn kind(op: &OpPlan, bytes: bool) -> &'static str {
    match (bytes, op.geometry.channels % 4 == 0) {
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
