//! The message `Event` of TensorBoard and what it contains, in the encoding of Protocol Buffers.
//!
//! Only the fields that are written here, by their numbers in `event.proto`, `summary.proto` and `tensor.proto`.
//! Fields come in the order of their numbers, and those of value 0 outside a `oneof` are left out, so the bytes are
//! those of TensorBoard's own writer.

use crate::protobuf::Message;

/// What happened at one step.
pub(super) struct Event<'a> {
    /// Seconds since 1970.
    pub wall_time: f64,
    pub step: u64,
    pub values: Vec<Value<'a>>,
}

/// One tag of a summary.
pub(super) enum Value<'a> {
    Scalar { tag: &'a str, value: f32 },
    Histogram { tag: &'a str, buckets: &'a [[f64; 3]] },
    Text { tag: &'a str, text: &'a str },
    Settings { wall_time: f64, settings: &'a [(String, Setting)] },
    Finished { wall_time: f64 },
}

/// A setting of a run, as TensorBoard knows them.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

/// `DataType` of tensors.
const DT_FLOAT: u64 = 1;
const DT_DOUBLE: u64 = 2;
const DT_STRING: u64 = 7;

/// The event with which every file begins.
pub(super) fn version(wall_time: f64) -> Vec<u8> {
    Message::default().double(1, wall_time).bytes(3, b"brain.Event:2").into_bytes()
}

/// Step and wall time of an event that begins with both, as those of scalars do.
pub(super) fn time(event: &[u8]) -> Option<(u64, f64)> {
    const WALL_TIME: u8 = 1 << 3 | 1;
    const STEP: u8 = 2 << 3;
    let (&[WALL_TIME], rest) = event.split_first_chunk()? else { return None };
    let (wall_time, rest) = rest.split_first_chunk::<8>()?;
    let (&[STEP], rest) = rest.split_first_chunk()? else { return None };
    let end = rest.iter().position(|byte| byte & 0x80 == 0)?;
    let step = rest[..=end.min(9)].iter().rev().fold(0, |step, byte| step << 7 | u64::from(byte & 0x7f));
    Some((step, f64::from_le_bytes(*wall_time)))
}

impl Event<'_> {
    pub fn encode(&self) -> Vec<u8> {
        let summary =
            self.values.iter().fold(Message::default(), |all, value| all.message(1, value.encode()));
        Message::default().double(1, self.wall_time).integer(2, self.step).message(5, summary).into_bytes()
    }
}

impl Value<'_> {
    /// `Summary.Value`: tag = 1, simple_value = 2, tensor = 8, metadata = 9.
    fn encode(&self) -> Message {
        let value = Message::default();
        match *self {
            Self::Scalar { tag, value: number } => {
                value.bytes(1, tag.as_bytes()).float_always(2, number).message(9, metadata("scalars"))
            }
            Self::Histogram { tag, buckets } => {
                let content: Vec<u8> = buckets.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
                let shape = [buckets.len() as u64, 3].into_iter().fold(Message::default(), |shape, size| {
                    shape.message(2, Message::default().integer(1, size))
                });
                let tensor = Message::default().integer(1, DT_DOUBLE).message(2, shape).bytes(4, &content);
                value.bytes(1, tag.as_bytes()).message(8, tensor).message(9, metadata("histograms"))
            }
            Self::Text { tag, text } => {
                let scalar = Message::default();
                let tensor = Message::default()
                    .integer(1, DT_STRING)
                    .message(2, scalar)
                    .bytes_always(8, text.as_bytes());
                value.bytes(1, tag.as_bytes()).message(8, tensor).message(9, metadata("text"))
            }
            Self::Settings { wall_time, settings } => {
                // `SessionStartInfo`: hparams = 1, start_time_secs = 5.
                let start = settings.iter().fold(Message::default(), |all, (name, setting)| {
                    all.message(1, Message::default().bytes(1, name.as_bytes()).message(2, setting.encode()))
                });
                hparams(value, "_hparams_/session_start_info", 3, start.double(5, wall_time))
            }
            Self::Finished { wall_time } => {
                // `SessionEndInfo`: status = 1, of which 1 is success; end_time_secs = 2.
                let end = Message::default().integer(1, 1).double(2, wall_time);
                hparams(value, "_hparams_/session_end_info", 4, end)
            }
        }
    }
}

impl Setting {
    /// `google.protobuf.Value`: number_value = 2, string_value = 3, bool_value = 4, in a `oneof`.
    fn encode(&self) -> Message {
        match self {
            Self::Number(number) => Message::default().double_always(2, *number),
            Self::Text(text) => Message::default().bytes_always(3, text.as_bytes()),
            Self::Flag(flag) => Message::default().integer_always(4, u64::from(*flag)),
        }
    }
}

/// A value of the plugin hparams. What it says is in the metadata, as `HParamsPluginData` with this field; its tensor,
/// which has no numbers, is there because every value has one.
fn hparams(value: Message, tag: &str, field: u64, content: Message) -> Message {
    let data = Message::default().message(field, content);
    let plugin = Message::default().bytes(1, b"hparams").bytes(2, &data.into_bytes());
    let shape = Message::default().message(2, Message::default());
    let tensor = Message::default().integer(1, DT_FLOAT).message(2, shape);
    value.bytes(1, tag.as_bytes()).message(8, tensor).message(9, Message::default().message(1, plugin))
}

/// `SummaryMetadata`: which part of TensorBoard shows the value.
fn metadata(plugin: &str) -> Message {
    Message::default().message(1, Message::default().bytes(1, plugin.as_bytes()))
}
