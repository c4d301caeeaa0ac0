//! Cartridges: 4096 addresses for games that are larger than that.
//!
//! A cartridge shows its contents in four windows of 1024 bytes. Reading or writing a *hot spot* moves the windows.

use std::sync::Arc;

use super::Error;
use super::tape::Tape;

/// How a cartridge switches its banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Two or four kilobytes: all of it is always there.
    Plain,
    /// Atari's: banks of four kilobytes, one hot spot for each from the given address on.
    Atari { first: u16, ram: bool },
}

/// A cartridge in its slot.
#[derive(Clone)]
pub(super) struct Cartridge {
    rom: Arc<[u8]>,
    scheme: Scheme,
    /// Where in `rom` each window starts.
    windows: [u32; 4],
    /// What the windows show: a copy, so that the processor reads with one look-up.
    visible: Box<[u8; 4096]>,
    /// The addresses from `low` on, `plain` in number, are read from the windows and nothing else happens there.
    low: u16,
    plain: u16,
    /// Memory in the cartridge.
    ram: [u8; 128],
}

impl Cartridge {
    pub(super) fn new(rom: &[u8]) -> Result<Self, Error> {
        let scheme = match rom.len() {
            2048 | 4096 => Scheme::Plain,
            8192 => Scheme::Atari { first: 0xFF8, ram: has_ram(rom) },
            16384 => Scheme::Atari { first: 0xFF6, ram: has_ram(rom) },
            32768 => Scheme::Atari { first: 0xFF4, ram: has_ram(rom) },
            bytes => return Err(Error::Size { bytes }),
        };
        // A cartridge of two kilobytes does not see address line 11.
        let rom: Arc<[u8]> = if rom.len() == 2048 { [rom, rom].concat().into() } else { rom.into() };
        let (low, high) = match scheme {
            Scheme::Plain => (0, 0x1000),
            Scheme::Atari { first, ram } => (if ram { 0x100 } else { 0 }, first),
        };
        let mut cartridge =
            Self { rom, scheme, windows: [0; 4], visible: Box::new([0; 4096]), low, plain: high - low, ram: [0; 128] };
        cartridge.reset();
        Ok(cartridge)
    }

    /// Power on: the bank that ALE starts with.
    pub(super) fn reset(&mut self) {
        match self.scheme {
            Scheme::Plain => self.show(0),
            Scheme::Atari { .. } => self.show(self.rom.len() / 4096 - 1),
        }
    }

    /// Shows a bank of four kilobytes in all windows.
    fn show(&mut self, bank: usize) {
        for window in 0..4 {
            self.show_in(window, bank * 4 + window);
        }
    }

    /// Shows a kilobyte of the cartridge in one window.
    fn show_in(&mut self, window: usize, kilobyte: usize) {
        let start = kilobyte * 1024;
        self.windows[window] = start as u32;
        self.visible[window * 1024..][..1024].copy_from_slice(&self.rom[start..][..1024]);
    }

    #[inline(always)]
    pub(super) fn read(&mut self, address: u16, lines: u8) -> u8 {
        let place = address & 0xFFF;
        if place.wrapping_sub(self.low) >= self.plain {
            return self.read_special(place, lines);
        }
        self.visible[usize::from(place)]
    }

    /// What is visible at an address.
    pub(super) fn peek(&self, address: u16) -> u8 {
        self.visible[usize::from(address & 0xFFF)]
    }

    #[inline(always)]
    pub(super) fn write(&mut self, address: u16, value: u8) {
        let place = address & 0xFFF;
        if place.wrapping_sub(self.low) >= self.plain {
            self.write_special(place, value);
        }
    }

    #[inline(never)]
    fn read_special(&mut self, place: u16, lines: u8) -> u8 {
        match self.scheme {
            Scheme::Plain => {}
            Scheme::Atari { first, .. } => {
                if place < 0x80 {
                    // Reading the port for writing writes what is on the data lines.
                    self.ram[usize::from(place)] = lines;
                    return lines;
                }
                if place < 0x100 {
                    return self.ram[usize::from(place - 0x80)];
                }
                self.switch(place, first);
            }
        }
        self.visible[usize::from(place)]
    }

    #[inline(never)]
    fn write_special(&mut self, place: u16, value: u8) {
        match self.scheme {
            Scheme::Plain => {}
            Scheme::Atari { first, .. } => {
                if place < 0x80 {
                    self.ram[usize::from(place)] = value;
                } else if place >= 0x100 {
                    self.switch(place, first);
                }
            }
        }
    }

    fn switch(&mut self, place: u16, first: u16) {
        let bank = usize::from(place - first);
        if bank < self.rom.len() / 4096 {
            self.show(bank);
        }
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        for window in 0..4 {
            tape.double(&mut self.windows[window]);
            let kilobyte = (self.windows[window] as usize / 1024).min(self.rom.len() / 1024 - 1);
            self.show_in(window, kilobyte);
        }
        tape.bytes(&mut self.ram);
    }
}

/// Whether a game has memory in its cartridge. Its 256 addresses hide what the banks have there, so games fill these
/// bytes with one value.
fn has_ram(rom: &[u8]) -> bool {
    rom.chunks_exact(4096).all(|bank| bank[..256].iter().all(|&byte| byte == bank[0]))
}
