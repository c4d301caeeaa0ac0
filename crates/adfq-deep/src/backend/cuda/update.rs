//! The ADFQ update of a batch on the device: what the kernel of a gradient step does with a transition, for any number of them.

use super::raw::launch;
use super::sizes::Sizes;
use crate::Result;
use adfq::batch::Batch;
use adfq::update::{NoiseKind, RuleKind};
use adfq_nn::cuda::{Buffer, Device, Kernel, Scalar};

/// The ADFQ update on a device, all rules of it, for batches of any size.
///
/// ```
/// use adfq::batch::{Batch, Column};
/// use adfq::update::{NoiseKind, RuleKind};
/// use adfq_nn::cuda::Device;
///
/// let batch = Batch {
///     actions: 2,
///     mu_sa: &[0.0],
///     var_sa: &[1.0],
///     reward: &[0.5],
///     discount: Column::All(0.99),
///     var_w: Column::All(0.0),
///     terminal: &[],
///     terminal_var: 1e-3,
///     mu_next: &[1.0, 2.0],
///     var_next: &[1.0, 1.0],
/// };
/// let Ok(device) = Device::open(0) else { return Ok(()) }; // no GPU here
/// let updates = adfq_deep::backend::cuda::Updates::new(&device)?;
/// let (mean, var) = updates.batch(&batch, RuleKind::Analytic, NoiseKind::None, 1e-10)?;
/// assert!(mean[0] > 0.5 && var[0] < 1.0);
/// # Ok::<(), adfq_deep::Error>(())
/// ```
#[derive(Debug)]
pub struct Updates {
    device: Device,
    kernel: Kernel,
}

impl Updates {
    /// Compiles the rules for a device.
    pub fn new(device: &Device) -> Result<Self> {
        let module = device.compile(&Sizes::of_batch().source())?;
        Ok(Self { device: device.clone(), kernel: module.kernel("update_batch")? })
    }

    /// Posterior means and variances, computed in f64, the variances no smaller than `floor`. An element that has no
    /// posterior is NaN. Of the noise's variances the first counts for all.
    pub fn batch(
        &self,
        batch: &Batch<f64>,
        rule: RuleKind,
        noise: NoiseKind,
        floor: f64,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        update_batch(self, batch, rule, noise, floor)
    }
}

fn update_batch(
    updates: &Updates,
    batch: &Batch<f64>,
    rule: RuleKind,
    noise: NoiseKind,
    floor: f64,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let device = &updates.device;
    let (count, actions) = (batch.mu_sa.len(), batch.actions);
    let table = count * actions;
    for (what, needed, found) in [
        ("var_sa", count, batch.var_sa.len()),
        ("reward", count, batch.reward.len()),
        ("mu_next", table, batch.mu_next.len()),
        ("var_next", table, batch.var_next.len()),
        ("terminal", count, if batch.terminal.is_empty() { count } else { batch.terminal.len() }),
    ] {
        if needed != found {
            return Err(adfq_nn::Error::Length { what, needed, found }.into());
        }
    }
    if count == 0 || !(1..=32).contains(&actions) {
        return Err(adfq_nn::Error::Zero { what: "the batch, or its actions up to 32,".into() }.into());
    }
    let discounts = column(&batch.discount, count)?;
    let var_w = column(&batch.var_w, count)?[0];
    let terminal: Vec<u32> = match batch.terminal {
        [] => vec![0; count],
        terminal => terminal.iter().map(|&ended| ended.into()).collect(),
    };
    let columns = [batch.mu_sa, batch.var_sa, batch.reward, &discounts];
    let columns = columns.map(|column| Buffer::of(device, column));
    let [mu_sa, var_sa, reward, discount] = columns;
    let (mu_sa, var_sa, reward, discount) = (mu_sa?, var_sa?, reward?, discount?);
    let terminal = Buffer::of(device, &terminal)?;
    let (mu_next, var_next) = (Buffer::of(device, batch.mu_next)?, Buffer::of(device, batch.var_next)?);
    let (mean, var) = (Buffer::<f64>::zeros(device, count)?, Buffer::<f64>::zeros(device, count)?);
    let arguments = [
        Scalar::Address(mu_sa.address()),
        Scalar::Address(var_sa.address()),
        Scalar::Address(reward.address()),
        Scalar::Address(discount.address()),
        Scalar::Address(terminal.address()),
        Scalar::Address(mu_next.address()),
        Scalar::Address(var_next.address()),
        Scalar::Address(mean.address()),
        Scalar::Address(var.address()),
        Scalar::F64(var_w),
        Scalar::F64(batch.terminal_var),
        Scalar::F64(floor),
        Scalar::I32(i32::try_from(count).map_err(|_| adfq_nn::Error::TooLarge)?),
        Scalar::I32(actions as i32),
        Scalar::I32(rule as i32),
        Scalar::I32(noise as i32),
    ];
    launch(device, &updates.kernel, (count.div_ceil(4), 1), 128, &arguments)?;
    Ok((mean.download()?, var.download()?))
}

/// A column written out.
fn column(column: &adfq::batch::Column<f64>, count: usize) -> Result<Vec<f64>> {
    match column {
        adfq::batch::Column::All(value) => Ok(vec![*value; count]),
        adfq::batch::Column::Each(values) if values.len() == count => Ok(values.to_vec()),
        adfq::batch::Column::Each(values) => {
            Err(adfq_nn::Error::Length { what: "column", needed: count, found: values.len() }.into())
        }
    }
}
