//! From the last layers' values to the outputs and back: a copy for a linear head, v + aᵢ - mean(a) for a dueling one.

use crate::Network;

/// Values that each group of a dueling head has, in their order: hidden and value, hidden and advantages.
const VALUES: usize = 4;

impl Network {
    pub(crate) fn head_forward(&self, values: &[Vec<f32>], output: &mut [f32]) {
        let (actions, outputs) = (self.spec.head.actions, self.outputs());
        if self.spec.head.dueling.is_none() {
            return output.copy_from_slice(&values[values.len() - 1][..output.len()]);
        }
        for (group, streams) in self.streams(values).chunks_exact(VALUES).enumerate() {
            let rows =
                output.chunks_exact_mut(outputs).zip(&streams[1]).zip(streams[3].chunks_exact(actions));
            for ((output, value), advantages) in rows {
                let mean = mean(advantages);
                let output = &mut output[group * actions..][..actions];
                for (output, advantage) in output.iter_mut().zip(advantages) {
                    *output = value + (advantage - mean);
                }
            }
        }
    }

    pub(crate) fn head_backward(&self, out_grad: &[f32], deltas: &mut [Vec<f32>]) {
        let (actions, outputs) = (self.spec.head.actions, self.outputs());
        if self.spec.head.dueling.is_none() {
            let last = deltas.len() - 1;
            return deltas[last][..out_grad.len()].copy_from_slice(out_grad);
        }
        let first = deltas.len() - VALUES * self.spec.head.groups;
        for (group, streams) in deltas[first..].chunks_exact_mut(VALUES).enumerate() {
            let (value, advantages) = streams.split_at_mut(2);
            let rows = value[1].iter_mut().zip(advantages[1].chunks_exact_mut(actions));
            for ((value, advantages), gradient) in rows.zip(out_grad.chunks_exact(outputs)) {
                let gradient = &gradient[group * actions..][..actions];
                *value = gradient.iter().sum();
                let mean = mean(gradient);
                for (advantage, gradient) in advantages.iter_mut().zip(gradient) {
                    *advantage = gradient - mean;
                }
            }
        }
    }

    fn streams<'a>(&self, values: &'a [Vec<f32>]) -> &'a [Vec<f32>] {
        &values[values.len() - VALUES * self.spec.head.groups..]
    }
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len() as f32
}
