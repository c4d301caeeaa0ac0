//! MNIST as a bandit: name the digit of an image. The images are the user's own, in the IDX files of LeCun, plain or gzipped.

use super::{Chance, Info, Problem};
use crate::{Element, Error, Result, Space};
use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

const IMAGES: &str = "train-images-idx3-ubyte";
const LABELS: &str = "train-labels-idx1-ubyte";
/// The first four bytes of an IDX file say bytes, and of how many dimensions.
const MAGIC: [u8; 3] = [0, 0, 8];
const DIGITS: usize = 10;

/// The digit of an image is to be named, for 1 or -1. The frame after the answer is empty.
///
/// As in the package, a pixel is a *signed* byte divided by 255: what is brighter than 127 becomes negative.
#[derive(Clone, Debug)]
pub struct Mnist {
    data: Arc<Data>,
}

/// The training set of MNIST.
#[derive(Debug)]
struct Data {
    height: usize,
    width: usize,
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

/// The image that is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MnistState {
    image: usize,
    answered: bool,
    regret: f64,
}

impl Mnist {
    /// With the images and labels in this folder. Environments with the same folder share them.
    pub fn new(folder: &Path) -> Result<Self> {
        static SHARED: Mutex<Option<HashMap<PathBuf, Weak<Data>>>> = Mutex::new(None);
        // What is shared is whole at every moment, even after a panic elsewhere.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = shared.get_or_insert_default();
        if let Some(data) = shared.get(folder).and_then(Weak::upgrade) {
            return Ok(Self { data });
        }
        let data = Arc::new(Data::read(folder)?);
        shared.insert(folder.to_owned(), Arc::downgrade(&data));
        Ok(Self { data })
    }
}

impl Data {
    fn read(folder: &Path) -> Result<Self> {
        let (path, dimensions, pixels) = read_idx(folder, IMAGES, 3)?;
        let (labels_path, labels_dimensions, labels) = read_idx(folder, LABELS, 1)?;
        let [count, height, width] = dimensions[..] else { unreachable!("three were asked for") };
        if count * height * width == 0 {
            return Err(broken(path, "there is no image in it"));
        }
        if labels_dimensions != [count] {
            let reason = format!("it has {} labels for {count} images", labels.len());
            return Err(broken(labels_path, reason));
        }
        if let Some(label) = labels.iter().find(|&&label| usize::from(label) >= DIGITS) {
            return Err(broken(labels_path, format!("{label} is no digit")));
        }
        Ok(Self { height, width, pixels, labels })
    }

    fn image(&self, index: usize) -> &[u8] {
        let size = self.height * self.width;
        &self.pixels[index * size..][..size]
    }
}

/// The path, the dimensions and the bytes of the IDX file of this name, or of that name and `.gz`.
fn read_idx(folder: &Path, name: &str, dimensions: usize) -> Result<(PathBuf, Vec<usize>, Vec<u8>)> {
    let (plain, zipped) = (folder.join(name), folder.join(format!("{name}.gz")));
    let path = if plain.exists() { plain } else { zipped };
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|mut file| match path.extension() {
        Some(end) if end == "gz" => GzDecoder::new(file).read_to_end(&mut bytes),
        _ => file.read_to_end(&mut bytes),
    });
    if let Err(error) = read {
        return Err(broken(path, error));
    }
    let start = 4 + 4 * dimensions;
    if bytes.len() < start || bytes[..3] != MAGIC || usize::from(bytes[3]) != dimensions {
        return Err(broken(path, format!("it is no IDX file of bytes in {dimensions} dimensions")));
    }
    let sizes: Vec<usize> =
        bytes[4..start].as_chunks().0.iter().map(|&size| u32::from_be_bytes(size) as usize).collect();
    let expected = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    bytes.drain(..start);
    if expected != Some(bytes.len()) {
        return Err(broken(path, format!("{} bytes are not {sizes:?} of them", bytes.len())));
    }
    Ok((path, sizes, bytes))
}

fn broken(path: PathBuf, reason: impl ToString) -> Error {
    Error::Data { path, reason: reason.to_string() }
}

impl Problem for Mnist {
    type State = MnistState;

    fn space(&self) -> Space {
        let Data { height, width, .. } = *self.data;
        Space { frame: vec![height, width, 1], element: Element::F32, stack: 1, actions: DIGITS }
    }

    fn action_names(&self) -> Vec<String> {
        (0..DIGITS).map(|digit| digit.to_string()).collect()
    }

    fn start(&self, state: &mut MnistState, chance: &mut dyn Chance) {
        // The file counts its images in 32 bits.
        state.image = chance.below(self.data.labels.len() as u32) as usize;
        state.answered = false;
    }

    fn act(&self, state: &mut MnistState, action: usize, _chance: &mut dyn Chance) -> (f64, bool) {
        let is_right = action == usize::from(self.data.labels[state.image]);
        let reward = if is_right { 1.0 } else { -1.0 };
        state.regret += 1.0 - reward;
        state.answered = true;
        (reward, true)
    }

    fn observe(&self, state: &MnistState, numbers: &mut [f32]) {
        if state.answered {
            return numbers.fill(0.0);
        }
        let pixels = self.data.image(state.image);
        numbers
            .iter_mut()
            .zip(pixels)
            .for_each(|(number, &pixel)| *number = f32::from(pixel.cast_signed()) / 255.0);
    }

    fn info(&self, state: &MnistState) -> Info {
        vec![("total_regret", state.regret)]
    }

    fn holds(&self, state: &MnistState, _running: bool) -> bool {
        state.image < self.data.labels.len()
    }
}
