//! State as bytes: one list of fields serves saving and restoring, so that the two cannot disagree.

/// A run of bytes that is written, or read back.
pub(super) enum Tape<'a> {
    /// Fields are appended.
    Save(&'a mut Vec<u8>),
    /// Fields are taken from the front. `None` once the bytes did not suffice.
    Restore(Option<&'a [u8]>),
}

impl Tape<'_> {
    /// Several bytes.
    pub(super) fn bytes(&mut self, field: &mut [u8]) {
        match self {
            Self::Save(out) => out.extend_from_slice(field),
            Self::Restore(rest) => {
                *rest = rest.and_then(|bytes| {
                    let (front, back) = bytes.split_at_checked(field.len())?;
                    field.copy_from_slice(front);
                    Some(back)
                });
            }
        }
    }

    pub(super) fn byte(&mut self, field: &mut u8) {
        self.bytes(std::slice::from_mut(field));
    }

    pub(super) fn flag(&mut self, field: &mut bool) {
        let mut byte = u8::from(*field);
        self.byte(&mut byte);
        *field = byte != 0;
    }

    pub(super) fn word(&mut self, field: &mut u16) {
        let mut bytes = field.to_le_bytes();
        self.bytes(&mut bytes);
        *field = u16::from_le_bytes(bytes);
    }

    pub(super) fn double(&mut self, field: &mut u32) {
        let mut bytes = field.to_le_bytes();
        self.bytes(&mut bytes);
        *field = u32::from_le_bytes(bytes);
    }

    pub(super) fn signed(&mut self, field: &mut i32) {
        let mut bytes = field.to_le_bytes();
        self.bytes(&mut bytes);
        *field = i32::from_le_bytes(bytes);
    }

    pub(super) fn long(&mut self, field: &mut u64) {
        let mut bytes = field.to_le_bytes();
        self.bytes(&mut bytes);
        *field = u64::from_le_bytes(bytes);
    }
}
