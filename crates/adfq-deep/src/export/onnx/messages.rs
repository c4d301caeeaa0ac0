//! The messages of ONNX that a network needs, by their field numbers in `onnx.proto`.

use adfq_files::protobuf::Message;

/// `TensorProto.DataType`.
const FLOAT: u64 = 1;
const INT64: u64 = 7;

/// A text for programs, by its key.
pub fn entry(key: &str, value: &str) -> Message {
    Message::default().bytes(1, key.as_bytes()).bytes(2, value.as_bytes())
}

/// The version of the operators.
pub fn operator_set(version: u64) -> Message {
    Message::default().integer(2, version)
}

/// An operator with its inputs, outputs and attributes.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str], attributes: Vec<Message>) -> Message {
    let names = |message: Message, field: u64, names: &[&str]| {
        names.iter().fold(message, |message, name| message.bytes_always(field, name.as_bytes()))
    };
    let message = names(names(Message::default(), 1, inputs), 2, outputs);
    let message = message.bytes(3, outputs[0].as_bytes()).bytes(4, op.as_bytes());
    attributes.into_iter().fold(message, |message, attribute| message.message(5, attribute))
}

/// An attribute that is an integer. Its value is written even if it is 0: an attribute must have one.
pub fn int(name: &str, value: u64) -> Message {
    Message::default().bytes(1, name.as_bytes()).integer_always(3, value).integer(20, 2)
}

/// An attribute that is a text.
pub fn text(name: &str, value: &str) -> Message {
    Message::default().bytes(1, name.as_bytes()).bytes(4, value.as_bytes()).integer(20, 3)
}

/// An attribute that is a list of integers.
pub fn ints(name: &str, values: &[usize]) -> Message {
    integers(Message::default().bytes(1, name.as_bytes()), 8, values).integer(20, 7)
}

/// A tensor of floating-point numbers.
pub fn floats(name: &str, shape: &[usize], numbers: &[f32]) -> Message {
    tensor(name, FLOAT, shape, numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
}

/// A list of integers as a tensor.
pub fn sizes(name: &str, numbers: &[usize]) -> Message {
    let bytes = numbers.iter().flat_map(|&number| (number as i64).to_le_bytes());
    tensor(name, INT64, &[numbers.len()], bytes.collect())
}

fn tensor(name: &str, element: u64, shape: &[usize], bytes: Vec<u8>) -> Message {
    integers(Message::default(), 1, shape).integer(2, element).bytes(8, name.as_bytes()).bytes(9, &bytes)
}

/// An input or output: rows of floating-point numbers in this shape, as many as there are observations.
pub fn rows(name: &str, shape: &[usize]) -> Message {
    value(name, FLOAT, shape)
}

/// An output with one integer for each observation.
pub fn choices(name: &str) -> Message {
    value(name, INT64, &[])
}

fn value(name: &str, element: u64, shape: &[usize]) -> Message {
    let batch = Message::default().bytes(2, b"batch");
    let sizes = shape.iter().map(|&size| Message::default().integer_always(1, size as u64));
    let axes = std::iter::once(batch).chain(sizes);
    let shape = axes.fold(Message::default(), |shape, axis| shape.message(1, axis));
    let tensor = Message::default().integer(1, element).message(2, shape);
    Message::default().bytes(1, name.as_bytes()).message(2, Message::default().message(1, tensor))
}

fn integers(message: Message, field: u64, numbers: &[usize]) -> Message {
    numbers.iter().fold(message, |message, &number| message.integer_always(field, number as u64))
}
