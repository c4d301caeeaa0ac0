//! Cartridges: 4096 addresses for games that are larger than that.
//!
//! A cartridge shows its contents in four windows of 1024 bytes. Reading or writing a *hot spot* moves the windows.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Error;
use super::cpu::{LONGEST, Place};
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
/// Bytes of a window.
const WINDOW: usize = 1024;
/// The hot spots of windows that move one by one.
const HOT_WINDOWS: Range<u16> = 0xFE0..0xFF8;

/// Addresses that the processor tells apart. The upper half is the cartridge's.
pub(super) const ADDRESSES: u16 = 8192;
/// Most banks, with one for what is shown if windows move one by one.
const BANKS: usize = 8;

/// What the processor finds at each address, with each bank. All banks have their places, so that no index can lie outside.
type Map = [Place; BANKS * ADDRESSES as usize];

/// A cartridge in its slot.
#[derive(Clone)]
pub(super) struct Cartridge {
    /// The game.
    contents: Arc<[u8]>,
    /// What is at the addresses of each bank, so that instructions are put together just once.
    map: Arc<Map>,
    scheme: Scheme,
    /// Which kilobyte of the game each window shows.
    windows: [u8; 4],
    /// Where in `map` the places are that are visible now.
    visible: u16,
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
        let contents = rom.repeat(if rom.len() == 2048 { 2 } else { 1 });
        let (contents, map) = shared(contents, scheme);
        Ok(Self { contents, map, scheme, windows: [0; 4], visible: 0, ram: [0; 128], dpc: Dpc::new() })
    }

    /// Power on: the bank that ALE starts with, and memory with what it draws.
    pub(super) fn power_on(&mut self, random: &mut MersenneTwister) {
        match self.scheme {
            Scheme::Plain | Scheme::Activision => self.show(0),
            Scheme::Atari { ram, .. } => {
                self.show(self.banks() - 1);
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

    /// Banks of the game.
    fn banks(&self) -> usize {
        if self.scheme == Scheme::Dpc { 2 } else { self.contents.len() / BANK }
    }

    /// Shows a bank of four kilobytes in all windows.
    fn show(&mut self, bank: usize) {
        self.visible = bank as u16 * ADDRESSES;
    }

    /// Shows four kilobytes of the game in the windows, for games whose windows move one by one.
    fn show_windows(&mut self, kilobytes: [u8; 4]) {
        self.show(self.banks());
        for (window, kilobyte) in kilobytes.into_iter().enumerate() {
            self.show_window(window, kilobyte);
        }
    }

    fn show_window(&mut self, window: usize, kilobyte: u8) {
        self.windows[window] = kilobyte;
        let map = Arc::make_mut(&mut self.map).as_mut_slice();
        let (game, shown) = map.split_at_mut(self.visible.into());
        let start = usize::from(kilobyte & 7) * WINDOW;
        let start = start / BANK * usize::from(ADDRESSES) + BANK + start % BANK;
        let shown = &mut shown[BANK + window * WINDOW..][..WINDOW];
        shown.copy_from_slice(&game[start..][..WINDOW]);
        // What starts here goes on in the next window, whatever that shows.
        shown[WINDOW + 1 - LONGEST..].iter_mut().for_each(Place::cut);
        if window == 3 {
            let spots = usize::from(HOT_WINDOWS.start) - 3 * WINDOW;
            shown[spots + 1 - LONGEST..spots].iter_mut().for_each(Place::cut);
            shown[spots..].iter_mut().for_each(Place::hide);
        }
    }

    /// Where in the map an address is now.
    #[inline(always)]
    pub(super) fn at(&self, address: u16) -> u16 {
        self.visible | address & (ADDRESSES - 1)
    }

    /// What is at a place in the map.
    #[inline(always)]
    pub(super) fn place(&self, at: u16) -> Place {
        self.map[usize::from(at)]
    }

    /// A read that has no effect, if the address is such a one.
    #[inline(always)]
    pub(super) fn plain(&self, address: u16) -> Option<u8> {
        self.place(self.at(address)).plain()
    }

    /// Any read.
    pub(super) fn read(&mut self, address: u16) -> u8 {
        match self.plain(address) {
            Some(value) => value,
            None => self.read_special(address),
        }
    }

    /// What is visible at an address.
    pub(super) fn peek(&self, address: u16) -> u8 {
        self.place(self.at(address)).byte()
    }

    pub(super) fn write(&mut self, address: u16, value: u8) {
        if self.plain(address).is_none() {
            self.write_special(address, value);
        }
    }

    #[inline(never)]
    fn read_special(&mut self, address: u16) -> u8 {
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
                // On the chip, to read the port for writing would write what is on the data lines.
                if place < 0x80 {
                    return 0;
                }
                if place < 0x100 {
                    return self.ram[usize::from(place - 0x80)];
                }
                self.switch(place, first);
            }
        }
        self.peek(address)
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
        if HOT_WINDOWS.contains(&place) {
            let (window, kilobyte) = (usize::from(place - HOT_WINDOWS.start) / 8, place as u8 & 7);
            if self.windows[window] != kilobyte {
                self.show_window(window, kilobyte);
            }
        }
    }

    fn switch(&mut self, place: u16, first: u16) {
        let bank = usize::from(place.wrapping_sub(first));
        if bank < self.banks() {
            self.show(bank);
        }
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.bytes(&mut self.windows);
        let mut bank = (self.visible / ADDRESSES) as u8;
        tape.byte(&mut bank);
        if self.scheme == Scheme::Parker {
            self.show_windows(self.windows);
        } else {
            self.show(usize::from(bank).min(self.banks() - 1));
        }
        tape.bytes(&mut self.ram);
        self.dpc.state(tape);
    }
}

/// The cartridges that are in use, of which machines with the same game share one copy. Machines take turns on a core, and what the processor
/// finds at the addresses of one game fills most of the fastest memory of the machine that this program runs on.
static IN_USE: Mutex<Vec<InUse>> = Mutex::new(vec![]);
type InUse = (Weak<[u8]>, Weak<Map>);

/// A game and what is at its addresses.
fn shared(contents: Vec<u8>, scheme: Scheme) -> (Arc<[u8]>, Arc<Map>) {
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.retain(|(contents, map)| contents.strong_count() > 0 && map.strong_count() > 0);
    let mut used = in_use.iter().filter_map(|(contents, map)| Some((contents.upgrade()?, map.upgrade()?)));
    if let Some(game) = used.find(|(used, _)| **used == *contents) {
        return game;
    }
    let map = Arc::new(map(&contents, scheme));
    let game: (Arc<[u8]>, _) = (contents.into(), map);
    in_use.push((Arc::downgrade(&game.0), Arc::downgrade(&game.1)));
    game
}

/// What is at the addresses of each bank of a game.
fn map(contents: &[u8], scheme: Scheme) -> Map {
    // Where reading has no effect. Any kilobyte but the last may be shown where there are no hot spots.
    let plain = match scheme {
        Scheme::Plain | Scheme::Parker => 0x1000..0x2000,
        Scheme::Atari { first, ram } => (if ram { 0x1100 } else { 0x1000 })..0x1000 + first,
        Scheme::Activision => 0x1000..0x1000,
        Scheme::Dpc => 0x1080..0x1FF8,
    };
    let mut map = [Place::ELSEWHERE; BANKS * ADDRESSES as usize];
    for (bank, map) in contents.chunks_exact(BANK).zip(map.chunks_exact_mut(ADDRESSES.into())) {
        fill(&mut map[BANK..], bank, &plain);
    }
    map
}

/// What the processor finds in a bank, where these addresses are plain.
fn fill(map: &mut [Place], bank: &[u8], plain: &Range<u16>) {
    for (i, place) in map.iter_mut().enumerate() {
        let code = std::array::from_fn(|k| bank.get(i + k).copied().unwrap_or(0));
        let address = i as u16 + 0x1000;
        *place = Place::with_next(code);
        if !plain.contains(&address) {
            place.hide();
        } else if !plain.contains(&(address + LONGEST as u16 - 1)) {
            place.cut();
        }
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
