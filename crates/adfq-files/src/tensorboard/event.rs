//! The message `Event` of TensorBoard and what it contains, in the encoding of Protocol Buffers.
//!
//! Only the fields that are written here, by their numbers in `event.proto`, `summary.proto` and `tensor.proto`.
//! Fields come in the order of their numbers, and those of value 0 outside a `oneof` are left out, so the bytes are
//! those of TensorBoard's own writer.

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
}

/// `DataType` of tensors.
const DT_DOUBLE: u64 = 2;
const DT_STRING: u64 = 7;

/// The event with which every file begins.
pub(super) fn version(wall_time: f64) -> Vec<u8> {
    Message::default().double(1, wall_time).bytes(3, b"brain.Event:2").0
}

impl Event<'_> {
    pub fn encode(&self) -> Vec<u8> {
        let summary =
            self.values.iter().fold(Message::default(), |all, value| all.message(1, value.encode()));
        Message::default().double(1, self.wall_time).integer(2, self.step).message(5, summary).0
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
        }
    }
}

/// `SummaryMetadata`: which part of TensorBoard shows the value.
fn metadata(plugin: &str) -> Message {
    Message::default().message(1, Message::default().bytes(1, plugin.as_bytes()))
}

/// The fields of a message so far.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Least significant seven bits first; the eighth says that more follow.
    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    fn key(self, field: u64, wire_type: u64) -> Self {
        self.varint(field << 3 | wire_type)
    }

    fn integer(self, field: u64, value: u64) -> Self {
        if value == 0 { self } else { self.key(field, 0).varint(value) }
    }

    fn double(self, field: u64, value: f64) -> Self {
        // By bits: -0 is not left out.
        if value.to_bits() == 0 {
            return self;
        }
        let mut message = self.key(field, 1);
        message.0.extend(value.to_le_bytes());
        message
    }

    /// For a field in a `oneof`, or repeated.
    fn float_always(self, field: u64, value: f32) -> Self {
        let mut message = self.key(field, 5);
        message.0.extend(value.to_le_bytes());
        message
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        if bytes.is_empty() { self } else { self.bytes_always(field, bytes) }
    }

    /// For a field in a `oneof`, or repeated.
    fn bytes_always(self, field: u64, bytes: &[u8]) -> Self {
        let mut message = self.key(field, 2).varint(bytes.len() as u64);
        message.0.extend(bytes);
        message
    }

    fn message(self, field: u64, message: Self) -> Self {
        self.bytes_always(field, &message.0)
    }
}
