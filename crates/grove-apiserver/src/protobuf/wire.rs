//! The wire format of protobuf: numbered fields, one after the other.

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct BadWire(pub(super) &'static str);

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Of a fixed width, which no field that we know has.
    Fixed,
}

/// Reads the fields of a message, and ends at the first that is broken.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn number(&mut self) -> Result<u64, BadWire> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(BadWire("a number is cut off"))?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(BadWire("a number is too long"))
    }

    fn bytes(&mut self, length: u64) -> Result<&'a [u8], BadWire> {
        let length = usize::try_from(length).ok().filter(|it| *it <= self.0.len());
        let (bytes, rest) = self.0.split_at(length.ok_or(BadWire("a field is cut off"))?);
        self.0 = rest;
        Ok(bytes)
    }

    fn field(&mut self) -> Result<(u64, Wire<'a>), BadWire> {
        let tag = self.number()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.number()?),
            1 => self.bytes(8).map(|_| Wire::Fixed)?,
            2 => {
                let length = self.number()?;
                Wire::Bytes(self.bytes(length)?)
            }
            5 => self.bytes(4).map(|_| Wire::Fixed)?,
            _ => return Err(BadWire("a field has an unknown wire type")),
        };
        Ok((tag >> 3, wire))
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<(u64, Wire<'a>), BadWire>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}
