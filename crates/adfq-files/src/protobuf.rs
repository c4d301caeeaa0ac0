//! The encoding of Protocol Buffers, for files of which we write only a few messages: TensorBoard's events and ONNX. What the
//! messages are is said where they are written.

/// The fields of a message so far. Each method adds one, and fields should come in the order of their numbers. A value of 0
/// is left out, as version 3 of the language has it; `_always` is for fields in a `oneof`, or repeated.
///
/// ```
/// use adfq_files::protobuf::Message;
///
/// let point = Message::default().integer(1, 150).bytes(2, b"ab").integer(3, 0);
/// assert_eq!(point.into_bytes(), [0x08, 0x96, 0x01, 0x12, 2, b'a', b'b']);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message(Vec<u8>);

impl Message {
    /// The message as it is written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

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

    /// An integer that is not negative, or the number of an `enum`.
    pub fn integer(self, field: u64, value: u64) -> Self {
        if value == 0 { self } else { self.integer_always(field, value) }
    }

    /// The same, 0 too.
    pub fn integer_always(self, field: u64, value: u64) -> Self {
        self.key(field, 0).varint(value)
    }

    /// A `double`.
    pub fn double(self, field: u64, value: f64) -> Self {
        // By bits: -0 is not left out.
        if value.to_bits() == 0 { self } else { self.double_always(field, value) }
    }

    /// The same, 0 too.
    pub fn double_always(self, field: u64, value: f64) -> Self {
        let mut message = self.key(field, 1);
        message.0.extend(value.to_le_bytes());
        message
    }

    /// A `float`, 0 too.
    pub fn float_always(self, field: u64, value: f32) -> Self {
        let mut message = self.key(field, 5);
        message.0.extend(value.to_le_bytes());
        message
    }

    /// Bytes, or a text.
    pub fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        if bytes.is_empty() { self } else { self.bytes_always(field, bytes) }
    }

    /// The same, empty too.
    pub fn bytes_always(self, field: u64, bytes: &[u8]) -> Self {
        let mut message = self.key(field, 2).varint(bytes.len() as u64);
        message.0.extend(bytes);
        message
    }

    /// A message in this one.
    pub fn message(self, field: u64, message: Self) -> Self {
        self.bytes_always(field, &message.0)
    }
}
