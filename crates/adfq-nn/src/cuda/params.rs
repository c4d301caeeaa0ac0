//! The parameters of the kernels: each struct mirrors the one of the same name in `kernels/`, field by field.

/// Most views of a launch.
pub(super) const VIEWS: usize = 4;
/// Most values of a perceptron that is fused.
pub(super) const FUSED_VALUES: usize = 8;
/// Most groups of a dueling head.
pub(super) const GROUPS: usize = 16;

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct ForwardView {
    pub params: u64,
    pub input: u64,
    pub output: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Forward {
    pub views: [ForwardView; VIEWS],
    pub params_stride: i64,
    pub input_stride: i64,
    pub output_stride: i64,
    pub weight: i32,
    pub bias: i32,
    pub view_count: i32,
    pub rows: i32,
    pub tiles_n: i32,
    pub splits: i32,
    pub split_tiles: i32,
    pub images: i32,
    pub scale: f32,
    pub partial: u64,
    pub arrived: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Delta {
    pub params: u64,
    pub dy: u64,
    pub x: u64,
    pub dx: u64,
    pub params_stride: i64,
    pub dy_stride: i64,
    pub x_stride: i64,
    pub dx_stride: i64,
    pub weight: i32,
    pub rows: i32,
    pub tiles_n: i32,
    pub add: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Weights {
    pub input: u64,
    pub dy: u64,
    pub grads: u64,
    pub partial: u64,
    pub squares: u64,
    pub input_stride: i64,
    pub dy_stride: i64,
    pub grads_stride: i64,
    pub partial_stride: i64,
    pub squares_stride: i64,
    pub weight: i32,
    pub bias: i32,
    pub slot: i32,
    pub bias_slot: i32,
    pub rows: i32,
    pub tiles_n: i32,
    pub splits: i32,
    pub split_tiles: i32,
    pub scale: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Thin {
    pub delta: Delta,
    pub weights: Weights,
    pub bytes: i32,
    pub delta_blocks: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct PartSums {
    pub parts: u64,
    pub partial: u64,
    pub grads: u64,
    pub squares: u64,
    pub partial_stride: i64,
    pub grads_stride: i64,
    pub squares_stride: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Dueling {
    pub value: [u64; GROUPS],
    pub advantage: [u64; GROUPS],
    pub outputs: u64,
    pub groups: i32,
    pub actions: i32,
    pub rows: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Normal {
    pub sums: u64,
    pub gradient: u64,
    pub out: u64,
    pub width: i32,
    pub rows: i32,
    pub epsilon: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Elements {
    pub outputs: u64,
    pub targets: u64,
    pub weights: u64,
    pub gradient: u64,
    pub delta: f32,
    pub size: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Adam {
    pub rate: f64,
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
    pub most: f32,
    pub clip: i32,
    pub squares: u64,
    pub tensor_slots: u64,
    pub parts: u64,
    pub scales: u64,
    pub own_rates: u64,
    pub rates: u64,
    pub steps: u64,
    pub skipped: u64,
    pub norms: u64,
    pub params: u64,
    pub m: u64,
    pub v: u64,
    pub grads: u64,
    pub target: u64,
    pub stride: i64,
    pub slots: i32,
    pub tensors: i32,
    pub tau: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct SumAndPrepare {
    pub adam: Adam,
    pub sums: PartSums,
    pub parts: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Target {
    pub online: u64,
    pub target: u64,
    pub size: i64,
    pub tau: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct FusedForward {
    pub views: [ForwardView; VIEWS],
    pub values: [u64; FUSED_VALUES],
    pub params_stride: i64,
    pub view_count: i32,
    pub rows: i32,
    pub scale: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct FusedLearn {
    pub adam: Adam,
    pub input: u64,
    pub values: [u64; FUSED_VALUES],
    pub out_grad: u64,
    pub rows: i32,
    pub scale: f32,
}
