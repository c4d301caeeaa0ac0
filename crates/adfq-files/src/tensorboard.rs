//! Event files for TensorBoard: scalars, histograms and texts over the steps of a run, and the settings of the run.
//!
//! A file is a row of records, each an `Event` in the encoding of Protocol Buffers, framed as TFRecord:
//! length (u64), masked CRC-32C of the length, the event, masked CRC-32C of the event. Times come from the caller.
//! Metrics for programs other than TensorBoard are text files behind an [`Appender`].

use crate::{Appender, Folder, Result, Syncer};
pub use event::Setting;
use event::{Event, Value};
use std::path::Path;

mod event;

/// A growing event file. TensorBoard finds it if its name contains `tfevents`.
///
/// Wall times are seconds since 1970. A resumed run opens the file of the first run and keeps what its checkpoint
/// knows of (see [`Appender`]); a TensorBoard that has been showing the cut part should be started again.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("events.out.tfevents.adfq");
/// use adfq_files::tensorboard::EventWriter;
///
/// let mut events = EventWriter::open(&path, 0, 1.7e9)?;
/// events.text(1.7e9, 0, "config", "agent = \"adfq\"")?;
/// events.scalars(1.7e9 + 5.0, 1000, &[("return", 21.5), ("loss", 0.25)])?;
/// events.histogram(1.7e9 + 5.0, 1000, "sigma", &[0.5, 0.75, 1.0])?;
/// events.sync()?;
/// let checkpoint = events.len();
/// drop(events);
///
/// let events = EventWriter::open(&path, checkpoint, 1.8e9)?;
/// assert_eq!(events.len(), checkpoint);
/// # Ok::<(), adfq_files::Error>(())
/// ```
#[derive(Debug)]
pub struct EventWriter {
    log: Appender,
}

impl EventWriter {
    /// Opens the file and keeps its first `keep` bytes, as [`Appender::open`] does. A file of which nothing is kept
    /// gets the event that begins every event file, at this time.
    pub fn open(path: impl AsRef<Path>, keep: u64, wall_time: f64) -> Result<Self> {
        Self::begin(Appender::open(path, keep)?, wall_time)
    }

    /// The same in an open folder.
    pub fn open_in(folder: &Folder, name: &str, keep: u64, wall_time: f64) -> Result<Self> {
        Self::begin(Appender::open_in(folder, name, keep)?, wall_time)
    }

    fn begin(log: Appender, wall_time: f64) -> Result<Self> {
        let mut writer = Self { log };
        if writer.len() == 0 {
            writer.log.write(&framed(&event::version(wall_time)))?;
        }
        Ok(writer)
    }

    /// Adds a point to the curve of each of these tags. TensorBoard stores values as `f32`; a tag `group/name` is
    /// shown in its group.
    pub fn scalars(&mut self, wall_time: f64, step: u64, values: &[(&str, f64)]) -> Result<()> {
        let values = values.iter().map(|&(tag, value)| Value::Scalar { tag, value: value as f32 });
        self.write(Event { wall_time, step, values: values.collect() })
    }

    /// Adds the distribution of these numbers, in 30 buckets of equal width; those that are not finite are left out.
    pub fn histogram(&mut self, wall_time: f64, step: u64, tag: &str, values: &[f32]) -> Result<()> {
        let buckets = buckets(values);
        self.write(Event { wall_time, step, values: vec![Value::Histogram { tag, buckets: &buckets }] })
    }

    /// Adds a text, which TensorBoard shows as Markdown: a configuration wants to be indented by four spaces.
    pub fn text(&mut self, wall_time: f64, step: u64, tag: &str, text: &str) -> Result<()> {
        self.write(Event { wall_time, step, values: vec![Value::Text { tag, text }] })
    }

    /// Says which settings this run has, once at its beginning. TensorBoard lists them under HPARAMS, beside the last value
    /// of each scalar.
    pub fn settings(&mut self, wall_time: f64, settings: &[(String, Setting)]) -> Result<()> {
        self.write(Event { wall_time, step: 0, values: vec![Value::Settings { wall_time, settings }] })
    }

    /// Says that the run whose settings were given has come to its end.
    pub fn finished(&mut self, wall_time: f64, step: u64) -> Result<()> {
        self.write(Event { wall_time, step, values: vec![Value::Finished { wall_time }] })
    }

    fn write(&mut self, event: Event) -> Result<()> {
        self.log.write(&framed(&event.encode()))
    }

    /// The length of the file, for a checkpoint.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.log.len()
    }

    /// Makes everything written so far survive a power cut.
    pub fn sync(&self) -> Result<()> {
        self.log.sync()
    }

    /// What syncs the file from another thread ([`Appender::syncer`]).
    pub fn syncer(&self) -> Syncer {
        self.log.syncer()
    }

    /// Where the file lies.
    pub fn path(&self) -> &Path {
        self.log.path()
    }
}

/// The event as a TFRecord.
fn framed(event: &[u8]) -> Vec<u8> {
    let len = (event.len() as u64).to_le_bytes();
    [&len[..], &masked_crc(&len), event, &masked_crc(event)].concat()
}

/// How many of these bytes are whole records, one after the other from the first: what a file that lost its end is cut
/// back to.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("events.out.tfevents.adfq");
/// use adfq_files::tensorboard::{EventWriter, whole_records};
///
/// let mut events = EventWriter::open(&path, 0, 1.7e9)?;
/// let first = events.len();
/// events.text(1.7e9, 0, "config", "agent = \"adfq\"")?;
/// let bytes = std::fs::read(&path).unwrap();
/// assert_eq!(whole_records(&bytes), events.len());
/// assert_eq!(whole_records(&bytes[..bytes.len() - 1]), first);
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn whole_records(bytes: &[u8]) -> u64 {
    let mut whole = 0;
    while let Some(record) = first_record(&bytes[whole..]) {
        whole += record;
    }
    whole as u64
}

/// When each step was written: step and wall time of every whole event that has a step, and how many bytes were read.
/// What the events say is not decoded.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("events.out.tfevents.adfq");
/// use adfq_files::tensorboard::{EventWriter, times};
///
/// let mut events = EventWriter::open(&path, 0, 1.7e9)?;
/// events.scalars(1.7e9 + 5.0, 1000, &[("return", 21.5)])?;
/// let bytes = std::fs::read(&path).unwrap();
/// assert_eq!(times(&bytes), (vec![(1000, 1.7e9 + 5.0)], bytes.len()));
/// assert_eq!(times(&bytes[..bytes.len() - 1]).0, []);
/// # Ok::<(), adfq_files::Error>(())
/// ```
pub fn times(bytes: &[u8]) -> (Vec<(u64, f64)>, usize) {
    let (mut found, mut read) = (vec![], 0);
    while let Some(record) = first_record(&bytes[read..]) {
        found.extend(event::time(&bytes[read + 12..read + record - 4]));
        read += record;
    }
    (found, read)
}

/// The length of the record at the start of these bytes, if it is whole.
fn first_record(bytes: &[u8]) -> Option<usize> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    let count = usize::try_from(u64::from_le_bytes(*len)).ok().filter(|_| *crc == masked_crc(len))?;
    let event = rest.get(..count)?;
    let crc = rest[count..].first_chunk::<4>()?;
    (*crc == masked_crc(event)).then_some(16 + count)
}

/// The mask keeps the checksum of bytes that contain checksums from being degenerate.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

/// (left edge, right edge, count) of 30 buckets from the least to the greatest finite value. As TensorBoard has it:
/// equal values are all in the last bucket, and without values everything is 0.
fn buckets(values: &[f32]) -> [[f64; 3]; 30] {
    let finite = || values.iter().filter(|value| value.is_finite()).map(|&value| f64::from(value));
    let mut buckets = [[0.0; 3]; 30];
    let (Some(min), Some(max)) = (finite().reduce(f64::min), finite().reduce(f64::max)) else {
        return buckets;
    };
    let last = buckets.len() - 1;
    let width = (max - min) / buckets.len() as f64;
    for (index, bucket) in buckets.iter_mut().enumerate() {
        let right = if index == last { max } else { (index + 1) as f64 * width + min };
        *bucket = [index as f64 * width + min, right, 0.0];
    }
    for value in finite() {
        // 0/0 = NaN if all are equal.
        let index = if width > 0.0 { ((value - min) / width) as usize } else { last };
        buckets[index.min(last)][2] += 1.0;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From RFC 3720, B.4, and the mask by hand: ((crc >> 15) | (crc << 17)) + 0xa282ead8.
    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(masked_crc(b"123456789"), 0xc78a_b0e5_u32.to_le_bytes());
    }

    #[test]
    fn buckets_hold_every_finite_value_once() {
        let values: Vec<f32> = (0..1000).map(|i| ((i * i) % 977) as f32 * 0.37 - 5.0).collect();
        let found = buckets(&values);
        assert_eq!(found.iter().map(|bucket| bucket[2]).sum::<f64>(), 1000.0);
        for (index, [left, right, count]) in found.into_iter().enumerate() {
            let inside = |&&value: &&f32| f64::from(value) >= left - 1e-9 && f64::from(value) < right + 1e-9;
            assert!(left < right && values.iter().filter(inside).count() as f64 >= count, "{index}");
        }
        assert!(found.windows(2).all(|pair| pair[0][1] == pair[1][0]), "no gaps");
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        let some = buckets(&[f32::NAN, 1.0, f32::INFINITY, 1.0, f32::NEG_INFINITY]);
        assert_eq!((some[0], some[29]), ([1.0, 1.0, 0.0], [1.0, 1.0, 2.0]));
        assert_eq!(buckets(&[f32::NAN]), [[0.0; 3]; 30]);
        assert_eq!(buckets(&[]), [[0.0; 3]; 30]);
        let wide = buckets(&[f32::MIN, f32::MAX]);
        assert_eq!((wide[0][2], wide[29][2]), (1.0, 1.0));
        let tiny = buckets(&[0.0, f32::from_bits(1)]);
        assert_eq!((tiny[0][2], tiny[29][2]), (1.0, 1.0));
    }
}
