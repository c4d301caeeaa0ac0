//! A network's compiled kernels.

use super::launch::{Kernel, Module};
use super::plan::{OpPlan, Plan, Tile, WEIGHTS_STAGES};
use super::resident::{
    Resident, image_delta_shared, image_forward_shared, image_weights_shared, pixels_forward_shared,
    pixels_weights_shared,
};
use crate::Result;

/// The kernels of each op, and those that all networks share.
#[derive(Debug)]
pub(super) struct Kernels {
    pub ops: Vec<OpKernels>,
    pub weights_sum: Kernel,
    pub dueling_forward: Kernel,
    pub dueling_backward: Kernel,
    pub normal_forward: Kernel,
    pub normal_backward: Kernel,
    pub round_all: Kernel,
    pub huber: Kernel,
    pub prepare: Kernel,
    pub sum_and_prepare: Kernel,
    pub step: Kernel,
    pub target: Kernel,
    /// Forward, and backward with Adam, of a small perceptron.
    pub fused: Option<[Kernel; 2]>,
}

#[derive(Debug)]
pub(super) enum OpKernels {
    Thin {
        forward: Kernel,
        backward: Kernel,
    },
    Tiled {
        tiled: Tiled,
        weights: Kernel,
    },
    Pixels {
        forward: Kernel,
        weights: Kernel,
    },
    /// Tiles where copies are few, with the same bits.
    Images {
        tiled: Tiled,
        forward: Kernel,
        delta: Kernel,
        weights: [Kernel; 2],
        images: [usize; 2],
    },
}

/// Kernels of each height of tiles.
#[derive(Debug)]
pub(super) struct Tiled {
    pub forward: Vec<Kernel>,
    pub sum: Option<Kernel>,
    pub delta: Option<Vec<Kernel>>,
}

impl Kernels {
    pub fn of(module: &Module, plan: &Plan) -> Result<Self> {
        let ops = (0..plan.ops.len()).map(|i| OpKernels::of(module, plan, i)).collect::<Result<_>>()?;
        Ok(Self {
            ops,
            weights_sum: module.kernel("weights_sum")?,
            dueling_forward: module.kernel("dueling_forward")?,
            dueling_backward: module.kernel("dueling_backward")?,
            normal_forward: module.kernel("normal_forward")?,
            normal_backward: module.kernel("normal_backward")?,
            round_all: module.kernel("round_all")?,
            huber: module.kernel("huber_gradient")?,
            prepare: module.kernel("adam_prepare")?,
            sum_and_prepare: module.kernel("adam_sum_and_prepare")?,
            step: module.kernel("adam_step")?,
            target: module.kernel("target_step")?,
            fused: plan.fused.then(|| fused(module, plan)).transpose()?,
        })
    }
}

fn fused(module: &Module, plan: &Plan) -> Result<[Kernel; 2]> {
    let kernels = [module.kernel("fused_forward")?, module.kernel("fused_learn")?];
    kernels[0].allow_shared(plan.forward_shared() as u32)?;
    kernels[1].allow_shared(plan.learn_shared() as u32)?;
    Ok(kernels)
}

impl OpKernels {
    fn of(module: &Module, plan: &Plan, i: usize) -> Result<Self> {
        let op = &plan.ops[i];
        if op.thin {
            let (forward, backward) = (format!("forward{i}"), format!("backward{i}"));
            return Ok(Self::Thin { forward: module.kernel(&forward)?, backward: module.kernel(&backward)? });
        }
        let kernel = |name: &str, shared: usize| -> Result<Kernel> {
            let kernel = module.kernel(name)?;
            kernel.allow_shared(shared as u32)?;
            Ok(kernel)
        };
        let g = &op.geometry;
        let (forward, delta, weights) = (format!("forward{i}"), format!("delta{i}"), format!("weights{i}"));
        Ok(match op.resident {
            None => Self::Tiled {
                tiled: Tiled::of(module, op, i)?,
                weights: kernel(&weights, op.weights_shared(WEIGHTS_STAGES))?,
            },
            Some(Resident::Bytes) => Self::Pixels {
                forward: kernel(&forward, pixels_forward_shared(g))?,
                weights: kernel(&weights, pixels_weights_shared(g))?,
            },
            Some(Resident::Values { forward: in_forward, delta: in_delta }) => Self::Images {
                tiled: Tiled::of(module, op, i)?,
                forward: kernel(&forward, image_forward_shared(g, in_forward))?,
                delta: kernel(&delta, image_delta_shared(g, in_delta))?,
                weights: [
                    kernel(&format!("{weights}_0"), image_weights_shared(g))?,
                    kernel(&format!("{weights}_1"), image_weights_shared(g))?,
                ],
                images: [in_forward, in_delta],
            },
        })
    }
}

impl Tiled {
    fn of(module: &Module, op: &OpPlan, i: usize) -> Result<Self> {
        let all = |name: &str, n: usize, shared: fn(Tile) -> usize| -> Result<Vec<Kernel>> {
            let variants = op.heights().iter().enumerate();
            variants
                .map(|(variant, &m)| {
                    let kernel = module.kernel(&format!("{name}{i}_{variant}"))?;
                    kernel.allow_shared(shared(Tile { m, n }) as u32)?;
                    Ok(kernel)
                })
                .collect()
        };
        Ok(Self {
            forward: all("forward", op.forward_n, Tile::forward_shared)?,
            sum: op.sums_apart().then(|| module.kernel(&format!("sum{i}"))).transpose()?,
            delta: (op.input > 0).then(|| all("delta", op.delta_n, Tile::delta_shared)).transpose()?,
        })
    }
}
