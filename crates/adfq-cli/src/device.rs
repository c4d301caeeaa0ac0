//! Where networks learn: on the CPU or on a GPU.

use adfq_deep::Device;
use anyhow::Result;

/// What `--device` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Cpu,
    /// A GPU if there is one.
    Auto,
    Gpu(usize),
}

/// `cpu`, `auto`, `cuda`, which is `cuda:0`, or another number.
pub fn parse(text: &str) -> Result<Choice, String> {
    match text {
        "cpu" => Ok(Choice::Cpu),
        "auto" => Ok(Choice::Auto),
        "cuda" => Ok(Choice::Gpu(0)),
        _ => {
            let number = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
            number.map(Choice::Gpu).ok_or_else(|| "it is cpu, auto, cuda or cuda:1, cuda:2, ...".to_owned())
        }
    }
}

impl Choice {
    /// The device to use. The error says in one line what is missing.
    pub fn device(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            Self::Auto => Ok(open(0).unwrap_or(Device::Cpu)),
            Self::Gpu(number) => open(number),
        }
    }
}

/// The GPU of this number, if it can be used; the error says what is missing.
#[cfg(feature = "cuda")]
fn open(number: usize) -> Result<Device> {
    adfq_nn::cuda::Device::open(number)?;
    Ok(Device::Cuda(number))
}

#[cfg(not(feature = "cuda"))]
fn open(number: usize) -> Result<Device> {
    anyhow::bail!(
        "cuda:{number} cannot be used: this program was built without it; build it with --features cuda"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices() {
        assert_eq!(parse("cpu"), Ok(Choice::Cpu));
        assert_eq!(parse("cuda"), Ok(Choice::Gpu(0)));
        assert_eq!(parse("cuda:3"), Ok(Choice::Gpu(3)));
        assert!(parse("cuda:x").unwrap_err().contains("cuda:1"));
        assert_eq!(Choice::Cpu.device().unwrap(), Device::Cpu);
    }
}
