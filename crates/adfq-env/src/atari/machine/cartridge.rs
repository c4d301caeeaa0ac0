//! Cartridges: 4096 addresses for games that are larger than that.
//!
//! A cartridge shows its contents in four windows of 1024 bytes. Reading or writing a *hot spot* moves the windows.

use std::sync::Arc;

use super::Error;
use super::cpu::CYCLES;
use super::dpc::Dpc;
use super::random::MersenneTwister;
use super::tape::Tape;

/// How a cartridge switches its banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Two or four kilobytes: all of it is always there.
    Plain,
    /// Atari's: banks of four kilobytes, one hot spot for each from the given address on.
    Atari { first: u16, ram: bool },
    /// Parker Brothers': each of the first three windows shows any of eight kilobytes, the last one always the last.
    Parker,
    /// Activision's FE: address line 13 tells the two banks, as the program jumps from one to the other.
    Activision,
    /// Activision's DPC, for Pitfall II: banks as Atari's, and a chip that fetches graphics.
    Dpc,
}

/// Bytes of a bank.
const BANK: usize = 4096;
/// Bytes of the longest instruction.
const LONGEST: u16 = 3;

/// Addresses that the processor tells apart. The upper half is the cartridge's.
const ADDRESSES: usize = 8192;
/// Most banks, with one for what is shown if windows move one by one.
const BANKS: usize = 8;

/// For each bank and each address, the instruction that starts there: its bytes and, in the highest byte, its cycles. 0 where reading one
/// of the bytes may have an effect, or where it is not in the cartridge. All banks have a place, so that no index can lie outside.
type Code = [u32; BANKS * ADDRESSES];

/// A cartridge in its slot.
#[derive(Clone)]
pub(super) struct Cartridge {
    /// The game; then, if its windows move one by one, what they show.
    contents: Arc<[u8]>,
    /// The instructions of each bank of it, so that they are put together just once.
    code: Arc<Code>,
    /// Bytes of the game.
    size: usize,
    scheme: Scheme,
    /// Which kilobyte of the game each window shows.
    windows: [u8; 4],
    /// Where in `contents` the windows begin, and where in `code`.
    visible: usize,
    visible_code: u16,
    /// The addresses from `low` on, `plain` in number, of 8192 are read from the windows and nothing else happens there.
    low: u16,
    plain: u16,
    /// Memory in the cartridge.
    ram: [u8; 128],
    dpc: Dpc,
}

impl Cartridge {
    pub(super) fn new(rom: &[u8]) -> Result<Self, Error> {
        let scheme = match rom.len() {
            2048 | 4096 => Scheme::Plain,
            8192 => eight_kilobytes(rom),
            10240..=10496 => Scheme::Dpc,
            16384 => Scheme::Atari { first: 0xFF6, ram: has_ram(rom) },
            32768 => Scheme::Atari { first: 0xFF4, ram: has_ram(rom) },
            bytes => return Err(Error::Size { bytes }),
        };
        // A cartridge of two kilobytes does not see address line 11.
        let mut contents = rom.repeat(if rom.len() == 2048 { 2 } else { 1 });
        let size = contents.len();
        let windows = if scheme == Scheme::Parker { 4096 } else { 0 };
        contents.resize(size + windows, 0);
        let (low, high) = match scheme {
            Scheme::Plain => (0x1000, 0x2000),
            Scheme::Atari { first, ram } => (if ram { 0x1100 } else { 0x1000 }, 0x1000 + first),
            Scheme::Parker => (0x1000, 0x1FE0),
            Scheme::Activision => (0x1000, 0x1000),
            Scheme::Dpc => (0x1080, 0x1FF8),
        };
        // Any kilobyte but the last one's may be shown where there are no hot spots.
        let end = if scheme == Scheme::Parker { 0x2000 } else { high };
        let mut code = Arc::new([0; BANKS * ADDRESSES]);
        let banks = Arc::make_mut(&mut code).chunks_exact_mut(ADDRESSES);
        for (bank, code) in contents.chunks_exact(BANK).zip(banks) {
            put_together(&mut code[BANK..], bank, low, end);
        }
        Ok(Self {
            contents: contents.into(),
            code,
            size,
            scheme,
            windows: [0; 4],
            visible: 0,
            visible_code: 0,
            low,
            plain: high - low,
            ram: [0; 128],
            dpc: Dpc::new(),
        })
    }

    /// Power on: the bank that ALE starts with, and memory with what it draws.
    pub(super) fn power_on(&mut self, random: &mut MersenneTwister) {
        match self.scheme {
            Scheme::Plain | Scheme::Activision => self.show(0),
            Scheme::Atari { ram, .. } => {
                self.show(self.size / 4096 - 1);
                if ram {
                    self.ram.fill_with(|| random.draw() as u8);
                }
            }
            Scheme::Parker => self.show_windows([4, 5, 6, 7]),
            Scheme::Dpc => {
                self.show(1);
                self.dpc = Dpc::new();
            }
        }
    }

    /// Shows a bank of four kilobytes in all windows.
    fn show(&mut self, bank: usize) {
        self.visible = bank * BANK;
        self.visible_code = (bank * ADDRESSES) as u16;
    }

    /// Shows four kilobytes of the game in the windows, for games whose windows move one by one.
    fn show_windows(&mut self, kilobytes: [u8; 4]) {
        self.windows = kilobytes;
        let bank = self.size / BANK;
        self.show(bank);
        let (game, windows) = Arc::make_mut(&mut self.contents).split_at_mut(self.size);
        let (banks, shown) = Arc::make_mut(&mut self.code).split_at_mut(bank * ADDRESSES);
        let shown = &mut shown[BANK..ADDRESSES];
        let code = shown.chunks_exact_mut(1024);
        for ((window, code), kilobyte) in windows.chunks_exact_mut(1024).zip(code).zip(kilobytes) {
            let start = usize::from(kilobyte & 7) * 1024;
            window.copy_from_slice(&game[start..][..1024]);
            code.copy_from_slice(&banks[start / BANK * ADDRESSES + BANK + start % BANK..][..1024]);
            // What starts here goes on in the next window, whatever that shows.
            code[1024 - usize::from(LONGEST - 1)..].fill(0);
        }
        // The hot spots are at the end of what is shown.
        shown[usize::from(self.plain - (LONGEST - 1))..].fill(0);
    }

    /// The instruction at an address: its bytes, then its cycles. 0 if reading it may have an effect.
    #[inline(always)]
    pub(super) fn code(&self, address: u16) -> u32 {
        self.code[usize::from(self.visible_code | address & 0x1FFF)]
    }

    /// A read that has no effect, if the address is such a one.
    #[inline(always)]
    pub(super) fn plain(&self, address: u16) -> Option<u8> {
        let plain = (address & 0x1FFF).wrapping_sub(self.low) < self.plain;
        plain.then(|| self.peek(address))
    }

    /// Any read.
    pub(super) fn read(&mut self, address: u16, lines: u8) -> u8 {
        match self.plain(address) {
            Some(value) => value,
            None => self.read_special(address, lines),
        }
    }

    /// What is visible at an address.
    #[inline(always)]
    pub(super) fn peek(&self, address: u16) -> u8 {
        self.contents[self.visible + usize::from(address & 0xFFF)]
    }

    pub(super) fn write(&mut self, address: u16, value: u8) {
        if self.plain(address).is_none() {
            self.write_special(address, value);
        }
    }

    #[inline(never)]
    fn read_special(&mut self, address: u16, lines: u8) -> u8 {
        let place = address & 0xFFF;
        match self.scheme {
            Scheme::Parker => self.switch_window(place),
            Scheme::Activision => {
                let bank = usize::from(address & 0x2000 == 0);
                return self.contents[bank * 4096 + usize::from(place)];
            }
            Scheme::Dpc => {
                if place < 0x40 {
                    return self.dpc.read(place, &self.contents[8192..]);
                }
                self.switch(place, 0xFF8);
            }
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
        self.peek(place)
    }

    #[inline(never)]
    fn write_special(&mut self, address: u16, value: u8) {
        let place = address & 0xFFF;
        match self.scheme {
            Scheme::Parker => self.switch_window(place),
            Scheme::Activision => {}
            Scheme::Dpc => {
                if (0x40..0x80).contains(&place) {
                    self.dpc.write(place, value);
                } else {
                    self.switch(place, 0xFF8);
                }
            }
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

    fn switch_window(&mut self, place: u16) {
        if let 0xFE0..=0xFF7 = place {
            let mut windows = self.windows;
            windows[usize::from(place - 0xFE0) / 8] = place as u8 & 7;
            self.show_windows(windows);
        }
    }

    fn switch(&mut self, place: u16, first: u16) {
        let banks = if self.scheme == Scheme::Dpc { 2 } else { self.size / 4096 };
        let bank = usize::from(place.wrapping_sub(first));
        if bank < banks {
            self.show(bank);
        }
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.bytes(&mut self.windows);
        let mut bank = (self.visible / 4096) as u8;
        tape.byte(&mut bank);
        if self.scheme == Scheme::Parker {
            self.show_windows(self.windows);
        } else {
            self.show(usize::from(bank).min(self.size / 4096 - 1));
        }
        tape.bytes(&mut self.ram);
        self.dpc.state(tape);
    }
}

/// Puts the instructions of a bank together, where the addresses from `low` up to `high` are plain.
fn put_together(code: &mut [u32], bank: &[u8], low: u16, high: u16) {
    for address in low..high.saturating_sub(LONGEST - 1).max(low) {
        let place = usize::from(address & 0xFFF);
        let bytes = [bank[place], bank[place + 1], bank[place + 2], CYCLES[usize::from(bank[place])]];
        code[place] = u32::from_le_bytes(bytes);
    }
}

/// Whether a game has memory in its cartridge. Its 256 addresses hide what the banks have there, so games fill these
/// bytes with one value.
fn has_ram(rom: &[u8]) -> bool {
    rom.chunks_exact(4096).all(|bank| bank[..256].iter().all(|&byte| byte == bank[0]))
}

/// Which of the types of eight kilobytes a game is. Its program tells: it reads or writes the hot spots of its type.
fn eight_kilobytes(rom: &[u8]) -> Scheme {
    let touches = |low: u16, high: u16| {
        rom.windows(3)
            .filter(|bytes| {
                let address = u16::from_le_bytes([bytes[1], bytes[2]]);
                let absolute = matches!(bytes[0], 0x0C | 0x2C | 0x8C..=0x8E | 0xAC..=0xAE | 0xCD);
                absolute && address & 0x1000 != 0 && (low..=high).contains(&(address & 0xFFF))
            })
            .count()
    };
    let (parker, atari) = (touches(0xFE0, 0xFF7), touches(0xFF8, 0xFF9));
    if parker > atari {
        Scheme::Parker
    } else if atari == 0 && !has_ram(rom) && jumps_across(rom) {
        Scheme::Activision
    } else {
        Scheme::Atari { first: 0xFF8, ram: has_ram(rom) }
    }
}

/// Whether the banks call each other as Activision's do: the first lies at $F000 and the second at $D000, each calls itself
/// and, less often, the other.
fn jumps_across(rom: &[u8]) -> bool {
    let (first, second) = rom.split_at(4096);
    let calls = |bank: &[u8], page: u8| {
        bank.windows(3).filter(|bytes| bytes[0] == 0x20 && bytes[2] & 0xF0 == page).count()
    };
    let mostly_own = |own: usize, other: usize| 0 < other && other < own;
    mostly_own(calls(first, 0xF0), calls(first, 0xD0)) && mostly_own(calls(second, 0xD0), calls(second, 0xF0))
}
