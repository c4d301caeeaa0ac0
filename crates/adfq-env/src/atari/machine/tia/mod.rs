//! The TIA: the picture, its collisions, and the inputs that are not on the ports.
//!
//! The beam is moved lazily. A write first draws the line up to the pixel at which it takes effect, and then changes the
//! register. Between two writes nothing changes, so whole runs of pixels are drawn, and tested for collisions, as sets.

mod collision;
mod mask;
mod motion;
mod objects;
mod picture;
mod stars;

use super::tape::Tape;
use collision::Collisions;
use mask::{Mask, WIDTH};
use motion::Motion;
use objects::{COPIES, wrap};
use picture::Picture;
pub use picture::Shown;
use stars::{Look, Stars};

/// Colour clocks of a line before the first visible pixel.
const BLANK: i32 = 68;
/// Cycles of the processor in a line.
const LINE: u64 = 76;
/// Lines after which a frame ends at the next write, if the program does not end it: for NTSC and for PAL.
const MOST_LINES: [u64; 2] = [291, 343];
/// A frame of more lines than this is one of PAL.
const NTSC_LINES: u64 = 285;

/// The objects, in the order of the arrays below.
const P0: usize = 0;
const P1: usize = 1;
const M0: usize = 2;
const M1: usize = 3;
const BALL: usize = 4;
const PLAYFIELD: usize = 5;

/// The chip.
#[derive(Clone)]
pub(super) struct Tia {
    /// The clock of the processor at the start of the present line.
    line_start: u64,
    /// Pixels of the present line that are done.
    done: i32,
    /// Lines since the start of the frame.
    line: u32,
    /// Whether a write has ended the frame.
    ended: bool,
    /// The clock at which the frame ends at the next write.
    frame_limit: u64,
    /// Whether the game is for PAL: its frames are longer.
    pub(super) pal: bool,
    vsync: u8,
    /// The clock at which VSYNC was switched on.
    vsync_since: u64,
    vblank: u8,

    nusiz: [u8; 2],
    colours: Colours,
    ctrlpf: u8,
    reflected_playfield: bool,
    reflected: [bool; 2],
    playfield: [u8; 3],
    /// GRP0 and GRP1, and what a player with vertical delay shows instead.
    graphics: [u8; 2],
    old_graphics: [u8; 2],
    delayed: [bool; 2],
    /// ENAM0, ENAM1.
    missiles: [bool; 2],
    locked: [bool; 2],
    ball: bool,
    old_ball: bool,
    delayed_ball: bool,
    /// Positions and motion registers of the two players, the two missiles and the ball.
    x: [u8; 5],
    motion: [u8; 5],
    /// Whether the first copy of a player is drawn: not on the line on which its position was reset.
    main: [bool; 2],
    /// The comb on this line, and on the next after a strobe at the very end of a line.
    comb: bool,
    comb_next: bool,
    /// Whether there are combs at all.
    combs: bool,
    /// The clock of the last HMOVE, and what came of it.
    moved_at: u64,
    stars: Stars,

    /// The pixels of the objects, and which of them are out of date.
    masks: [Mask; 6],
    stale: u8,
    /// Which of them have pixels, and those that more than one has.
    present: u8,
    overlap: Mask,
    /// Whether the line above was drawn at once, with the registers as they are now.
    like_above: bool,

    collisions: Collisions,
    buttons: [bool; 2],
    latches: [bool; 2],
    /// Cycles that the pins INPT0 to INPT3 take to charge, and since when they do.
    charge: [u32; 4],
    charging_since: u64,
    picture: Picture,
}

/// The colour registers.
#[derive(Clone, Copy, Default)]
struct Colours {
    players: [u8; 2],
    playfield: u8,
    background: u8,
    /// The low bit of all of them: set in a frame of PAL after one with an odd number of lines. Such a frame has no colour,
    /// and ALE's palette has the greys at odd numbers.
    lost: u8,
}

impl Colours {
    /// What a register holds that is written with this value.
    fn of(&self, value: u8) -> u8 {
        value & 0xFE | self.lost
    }

    /// COLUP0 to COLUBK.
    fn register(&mut self, register: u8) -> &mut u8 {
        match register {
            0x06 | 0x07 => &mut self.players[usize::from(register - 0x06)],
            0x08 => &mut self.playfield,
            _ => &mut self.background,
        }
    }

    /// A frame begins, with or without colour.
    fn lose(&mut self, lost: bool) {
        if lost != (self.lost == 1) {
            self.lost = u8::from(lost);
            self.players = self.players.map(|colour| self.of(colour));
            (self.playfield, self.background) = (self.of(self.playfield), self.of(self.background));
        }
    }
}

impl Tia {
    pub(super) fn new(shown: Shown) -> Self {
        Self {
            line_start: 0,
            done: 0,
            line: 0,
            ended: true,
            frame_limit: u64::MAX,
            pal: false,
            vsync: 0,
            vsync_since: 0,
            vblank: 0,
            nusiz: [0; 2],
            colours: Colours::default(),
            ctrlpf: 0,
            reflected_playfield: false,
            reflected: [false; 2],
            playfield: [0; 3],
            graphics: [0; 2],
            old_graphics: [0; 2],
            delayed: [false; 2],
            missiles: [false; 2],
            locked: [false; 2],
            ball: false,
            old_ball: false,
            delayed_ball: false,
            x: [0; 5],
            motion: [0; 5],
            main: [true; 2],
            comb: false,
            comb_next: false,
            combs: true,
            moved_at: 0,
            stars: Stars::new(),
            masks: [Mask::EMPTY; 6],
            stale: 0,
            present: 0,
            overlap: Mask::EMPTY,
            like_above: false,
            collisions: Collisions::default(),
            buttons: [false; 2],
            latches: [false; 2],
            charge: [u32::MAX; 4],
            charging_since: 0,
            picture: Picture::new(shown),
        }
    }

    pub(super) fn reset(&mut self, clock: u64) {
        *self = Self {
            line_start: clock,
            charging_since: clock,
            moved_at: clock,
            pal: self.pal,
            combs: self.combs,
            ..Self::new(self.picture.shown())
        };
    }

    pub(super) fn without_comb(&mut self) {
        self.combs = false;
    }

    /// Whether the frame that has just ended is as long as those of PAL.
    pub(super) fn long_frame(&self, clock: u64) -> bool {
        u64::from(self.line) + (clock - self.line_start) / LINE > NTSC_LINES
    }

    /// A new frame, if the one before is over: the line goes on, and is line 0 of it. Otherwise the one before goes on.
    pub(super) fn begin_frame(&mut self, clock: u64, draw: bool) {
        if self.ended {
            self.ended = false;
            // One clock further, so that a line that is over is over.
            self.catch_up(clock + 1, -3);
            self.colours.lose(self.pal && self.line % 2 == 1);
            self.line = 0;
            self.frame_limit = self.line_start + MOST_LINES[usize::from(self.pal)] * LINE;
            self.picture.begin(draw);
            self.like_above = false;
        }
    }

    /// The processor pauses, at the end of the frame or before. What is drawn by then is what its last write has come to.
    pub(super) fn pause(&mut self, last_write: u64) {
        if last_write > self.line_start {
            self.catch_up(last_write, 0);
        }
    }

    /// Whether the program has ended the frame, or the frame is as long as ALE lets it be.
    #[inline]
    pub(super) fn frame_over(&mut self, written_at: u64) -> bool {
        self.ended |= written_at >= self.frame_limit;
        self.ended
    }

    /// The start of the next line; now, if that is the start of one.
    #[inline]
    pub(super) fn next_line(&self, clock: u64) -> u64 {
        let gone = (clock - self.line_start) as u32;
        clock + u64::from(gone.next_multiple_of(LINE as u32) - gone)
    }

    pub(super) fn screen(&self) -> &[u8] {
        self.picture.pixels()
    }

    /// What the pins of the ports are during a frame.
    pub(super) fn set_pins(&mut self, buttons: [bool; 2], charge: [u32; 4]) {
        self.buttons = buttons;
        self.charge = charge;
    }

    // --- The beam.

    /// The pixel that the beam is at; negative in the blank part of the line.
    #[inline]
    fn pixel(&self, clock: u64) -> i32 {
        ((clock - self.line_start) as u32 % LINE as u32) as i32 * 3 - BLANK
    }

    /// Draws up to the present pixel and `delay` pixels more. Lines that are not shown are passed over: ALE's chip does
    /// nothing on them, so there are no collisions, and what is to last for one line waits for the first that is shown.
    #[inline]
    fn catch_up(&mut self, clock: u64, delay: i32) {
        // A line ends after its last clock: what is written in that clock still belongs to it.
        let mut gone = u64::from(((clock - self.line_start) as u32).saturating_sub(1) / LINE as u32);
        while gone > 0 {
            let lines = match self.picture.hidden_lines(self.line) {
                0 => {
                    self.finish_line();
                    1
                }
                hidden => gone.min(u64::from(hidden)),
            };
            self.line_start += lines * LINE;
            self.line += lines as u32;
            self.done = 0;
            gone -= lines;
        }
        let to = (clock - self.line_start) as i32 * 3 - BLANK + delay;
        if to > self.done && self.picture.hidden_lines(self.line) == 0 {
            self.draw_to(to.min(WIDTH));
        }
    }

    /// Draws what is left of a line.
    #[inline]
    fn finish_line(&mut self) {
        // What the line above has collided with, this one can only repeat.
        if self.like_above && self.done == 0 && self.stale == 0 && !self.comb {
            self.picture.repeat_row(self.line);
        } else {
            let whole = self.done == 0 && !self.comb;
            self.draw_to(WIDTH);
            self.like_above = whole;
        }
        self.end_line();
    }

    fn end_line(&mut self) {
        self.comb = std::mem::take(&mut self.comb_next);
        if let Some(left) = self.stars.end_line() {
            self.x[M0] = (i32::from(self.x[M0]) - i32::from(left)).rem_euclid(WIDTH) as u8;
            self.stale |= 1 << M0;
        }
        self.show_main();
        let reflected = self.ctrlpf & 1 != 0;
        if reflected != self.reflected_playfield {
            self.reflected_playfield = reflected;
            self.stale |= 1 << PLAYFIELD;
        }
    }

    /// The pixels from `done` up to `to`, with the registers as they are.
    fn draw_to(&mut self, to: i32) {
        let from = self.done;
        if to <= from {
            return;
        }
        self.done = to;
        if self.vblank & 2 != 0 {
            if let Some(row) = self.picture.row(self.line) {
                row[from as usize..to as usize].fill(0);
            }
            return;
        }
        if !self.picture.is_drawn() && !self.collisions.can_grow(self.may_be_present()) {
            return;
        }
        if self.stale != 0 {
            self.refresh();
        }
        if !self.overlap.is_empty() && self.collisions.can_grow(self.present) {
            self.collisions.add(&self.masks, self.present, &self.overlap.and(&Mask::span(from, to)));
        }
        let Some(row) = self.picture.row(self.line) else { return };
        picture::paint(row, from, to, &self.masks, self.present == 0, &self.colours, self.ctrlpf);
        if self.comb && from < 8 {
            row[from as usize..to.min(8) as usize].fill(0);
        }
    }

    /// The objects that the registers show, wherever they are. All others have no pixels.
    #[inline]
    fn may_be_present(&self) -> u8 {
        let player = |i: usize| if self.delayed[i] { self.old_graphics[i] } else { self.graphics[i] };
        let ball = if self.delayed_ball { self.old_ball } else { self.ball };
        u8::from(player(0) != 0) << P0
            | u8::from(player(1) != 0) << P1
            | u8::from(self.missiles[0]) << M0
            | u8::from(self.missiles[1]) << M1
            | u8::from(ball) << BALL
            | u8::from(self.playfield != [0; 3]) << PLAYFIELD
    }

    /// Brings the masks up to date.
    fn refresh(&mut self) {
        let stale = std::mem::take(&mut self.stale);
        for i in 0..2 {
            if stale & 1 << (P0 + i) != 0 {
                let graphics = if self.delayed[i] { self.old_graphics[i] } else { self.graphics[i] };
                self.masks[P0 + i] =
                    objects::player(graphics, self.reflected[i], self.nusiz[i], self.x[P0 + i], self.main[i]);
            }
            if stale & 1 << (M0 + i) != 0 {
                let look = if i == 0 { self.stars.look } else { Look::Usual };
                let shown = self.missiles[i] && !self.locked[i] && look != Look::Hidden;
                let nusiz = if look == Look::Wide { self.nusiz[i] | 0x10 } else { self.nusiz[i] };
                self.masks[M0 + i] =
                    if shown { objects::missile(nusiz, self.x[M0 + i]) } else { Mask::EMPTY };
            }
        }
        if stale & 1 << BALL != 0 {
            let shown = if self.delayed_ball { self.old_ball } else { self.ball };
            self.masks[BALL] = if shown { objects::ball(self.ctrlpf, self.x[BALL]) } else { Mask::EMPTY };
        }
        if stale & 1 << PLAYFIELD != 0 {
            self.masks[PLAYFIELD] = objects::playfield(self.playfield, self.reflected_playfield);
        }
        for (i, mask) in self.masks.iter().enumerate() {
            if stale & 1 << i != 0 {
                self.present = self.present & !(1 << i) | u8::from(!mask.is_empty()) << i;
            }
        }
        self.overlap = Mask::EMPTY;
        let (mut any, mut left) = (Mask::EMPTY, self.present);
        while left != 0 {
            let mask = &self.masks[left.trailing_zeros() as usize];
            self.overlap = self.overlap.or(&any.and(mask));
            any = any.or(mask);
            left &= left - 1;
        }
    }

    // --- The registers.

    /// A write to any register but WSYNC.
    pub(super) fn write(&mut self, register: u8, value: u8, now: u64) {
        if self.write_unseen(register, value, now) {
            return;
        }
        self.catch_up(now, delay(register, self.pixel(now)));
        self.like_above = false;
        match register {
            0x00 => self.write_vsync(value, now),
            0x01 => self.write_vblank(value, now),
            0x03 => {}
            0x04 | 0x05 => {
                let i = usize::from(register - 0x04);
                self.nusiz[i] = value;
                self.main[i] = true;
                self.usual_look(i);
                self.stale |= 1 << (P0 + i) | 1 << (M0 + i);
            }
            0x06..=0x09 => *self.colours.register(register) = self.colours.of(value),
            0x0A => self.write_ctrlpf(value, now),
            0x0B | 0x0C => {
                let i = usize::from(register - 0x0B);
                self.reflected[i] = value & 8 != 0;
                self.stale |= 1 << (P0 + i);
            }
            0x0D..=0x0F => {
                self.playfield[usize::from(register - 0x0D)] = value;
                self.stale |= 1 << PLAYFIELD;
            }
            0x10 | 0x11 => self.reset_player(usize::from(register - 0x10), now),
            0x12 | 0x13 => self.reset_small(M0 + usize::from(register - 0x12), now),
            0x14 => self.reset_small(BALL, now),
            0x1B => {
                self.write_first_graphics(value);
                self.stale |= u8::from(!self.delayed[0]) << P0 | u8::from(self.delayed[1]) << P1;
            }
            0x1C => {
                self.write_second_graphics(value);
                self.stale |= u8::from(!self.delayed[1]) << P1
                    | u8::from(self.delayed[0]) << P0
                    | u8::from(self.delayed_ball) << BALL;
            }
            0x1D | 0x1E => {
                let i = usize::from(register - 0x1D);
                self.missiles[i] = value & 2 != 0;
                self.stale |= 1 << (M0 + i);
            }
            0x1F => {
                self.ball = value & 2 != 0;
                self.stale |= 1 << BALL;
            }
            0x25 | 0x26 => {
                let i = usize::from(register - 0x25);
                self.delayed[i] = value & 1 != 0;
                self.stale |= 1 << (P0 + i);
            }
            0x27 => {
                self.delayed_ball = value & 1 != 0;
                self.stale |= 1 << BALL;
            }
            0x28 | 0x29 => self.lock(usize::from(register - 0x28), value & 2 != 0),
            0x2A => self.move_objects(now),
            0x2C => self.collisions.clear(),
            _ => {}
        }
    }

    /// Writes that no pixel and no collision shows: to registers of sound and motion, of values that are there already, to
    /// what is delayed, of colours of a frame that is not drawn. They are done here, and nothing needs to be drawn first.
    #[inline]
    fn write_unseen(&mut self, register: u8, value: u8, now: u64) -> bool {
        match register {
            0x01 => self.vblank == value,
            0x04 | 0x05 => {
                let i = usize::from(register - 0x04);
                self.nusiz[i] == value && self.main[i] && self.stars.look == Look::Usual
            }
            0x06..=0x09 => {
                let value = self.colours.of(value);
                let colour = self.colours.register(register);
                let seen = *colour != value && self.picture.is_drawn();
                if !seen {
                    *colour = value;
                }
                !seen
            }
            0x0A => self.ctrlpf == value && self.reflected_playfield == (value & 1 != 0),
            0x0B | 0x0C => self.reflected[usize::from(register - 0x0B)] == (value & 8 != 0),
            0x0D..=0x0F => self.playfield[usize::from(register - 0x0D)] == value,
            0x1B => {
                let seen = !self.delayed[0] && self.graphics[0] != value
                    || self.delayed[1] && self.old_graphics[1] != self.graphics[1];
                if !seen {
                    self.write_first_graphics(value);
                }
                !seen
            }
            0x1C => {
                let seen = !self.delayed[1] && self.graphics[1] != value
                    || self.delayed[0] && self.old_graphics[0] != self.graphics[0]
                    || self.delayed_ball && self.old_ball != self.ball;
                if !seen {
                    self.write_second_graphics(value);
                }
                !seen
            }
            0x1D | 0x1E => self.missiles[usize::from(register - 0x1D)] == (value & 2 != 0),
            0x1F => {
                let seen = !self.delayed_ball && self.ball != (value & 2 != 0);
                if !seen {
                    self.ball = value & 2 != 0;
                }
                !seen
            }
            0x20..=0x24 => {
                if register == 0x22 {
                    self.stars.change(self.motion[M0], value, now.wrapping_sub(self.moved_at));
                }
                self.motion[usize::from(register - 0x20)] = value;
                true
            }
            0x2B => {
                self.motion = [0; 5];
                true
            }
            0x03 | 0x15..=0x1A | 0x2D.. => true,
            _ => false,
        }
    }

    /// GRP0. Vertical delay works by copies: each player shows the graphics it had when the other's were last written.
    fn write_first_graphics(&mut self, value: u8) {
        self.graphics[0] = value;
        self.old_graphics[1] = self.graphics[1];
    }

    /// GRP1, which delays the ball too.
    fn write_second_graphics(&mut self, value: u8) {
        self.graphics[1] = value;
        self.old_graphics[0] = self.graphics[0];
        self.old_ball = self.ball;
    }

    fn write_vsync(&mut self, value: u8, clock: u64) {
        if value & 2 != 0 {
            self.vsync_since = clock;
        } else if self.vsync & 2 != 0 && clock - self.vsync_since >= LINE {
            self.ended = true;
        }
        self.vsync = value;
    }

    /// Bit 1 blanks the picture. Bit 7 grounds the pins of the paddles.
    fn write_vblank(&mut self, value: u8, clock: u64) {
        if self.vblank & 0x80 != 0 && value & 0x80 == 0 {
            self.charging_since = clock;
        }
        self.vblank = value;
    }

    /// The second half of the line is reflected or not as it was when the beam came near it.
    fn write_ctrlpf(&mut self, value: u8, clock: u64) {
        self.ctrlpf = value;
        self.stale |= 1 << BALL;
        if self.pixel(clock) < WIDTH / 2 - 1 {
            self.reflected_playfield = value & 1 != 0;
            self.stale |= 1 << PLAYFIELD;
        }
    }

    /// RESP0 and RESP1. The new position is five pixels on. Its first copy is drawn only from the next line on, except where
    /// the player was just about to be drawn. A copy that is being drawn is finished first.
    fn reset_player(&mut self, i: usize, clock: u64) {
        let x = reset_position(self.pixel(clock), 3, 5);
        let (copies, scale) = COPIES[usize::from(self.nusiz[i] & 7)];
        let mut main = false;
        for &copy in copies {
            let begun = (i32::from(x) - i32::from(wrap(self.x[P0 + i] + copy))).rem_euclid(WIDTH);
            if begun < 4 {
                main = true;
            } else if begun < 4 + 8 * i32::from(scale) {
                self.catch_up(clock, 11);
            }
        }
        self.x[P0 + i] = x;
        self.main[i] = main;
        self.stale |= 1 << (P0 + i);
    }

    /// RESM0, RESM1 and RESBL: four pixels on.
    fn reset_small(&mut self, object: usize, clock: u64) {
        self.x[object] =
            self.reset_after_motion(object, clock).unwrap_or_else(|| reset_position(self.pixel(clock), 2, 4));
        if object == M0 {
            self.usual_look(0);
        }
        self.stale |= 1 << object;
    }

    /// A reset while the clocks of HMOVE still come lets the object end up elsewhere. ALE knows the moments at which some
    /// games do it: the cycles in the line of HMOVE and of the reset, and the position.
    fn reset_after_motion(&self, object: usize, clock: u64) -> Option<u8> {
        const KNOWN: [(usize, u64, u64, u8); 6] = [
            (BALL, 3, 6, 3),
            (BALL, 3, 9, 5),
            (BALL, 3, 10, 6),
            (BALL, 5, 23, 10),
            (M0, 3, 23, 8),
            (M1, 3, 6, 3),
        ];
        let moved = self.moved_at.checked_sub(self.line_start)?;
        let now = clock - self.line_start;
        KNOWN.iter().find(|known| (known.0, known.1, known.2) == (object, moved, now)).map(|known| known.3)
    }

    /// RESMP0 and RESMP1: a missile that is locked is hidden, and lies in the middle of its player when it is let go.
    fn lock(&mut self, i: usize, locked: bool) {
        if self.locked[i] && !locked {
            let middle = match COPIES[usize::from(self.nusiz[i] & 7)].1 {
                1 => 4,
                2 => 8,
                _ => 16,
            };
            self.x[M0 + i] = wrap(self.x[P0 + i] + middle);
        }
        self.locked[i] = locked;
        self.usual_look(i);
        self.stale |= 1 << (M0 + i);
    }

    /// On the line of a star, a write to its size or position shows the missile as usual again.
    fn usual_look(&mut self, missile: usize) {
        if missile == 0 {
            self.stars.look = Look::Usual;
        }
    }

    fn move_objects(&mut self, clock: u64) {
        self.moved_at = clock;
        if self.stars.stop() {
            self.stale |= 1 << M0;
        }
        let motion = Motion::at(((clock - self.line_start) as i32 - 1).max(0));
        if self.combs && motion.late {
            self.comb_next = true;
        } else if self.combs {
            self.comb |= motion.comb;
        }
        for object in P0..=BALL {
            let left = motion.left(self.motion[object]);
            if left != 0 {
                // By less than a line in either direction.
                let x = i32::from(self.x[object]) - left;
                self.x[object] =
                    (x + if x < 0 { WIDTH } else { 0 } - if x >= WIDTH { WIDTH } else { 0 }) as u8;
                self.stale |= 1 << object;
            }
        }
        self.show_main();
    }

    /// From here on the players are drawn with their first copies again.
    fn show_main(&mut self) {
        for player in 0..2 {
            if !self.main[player] {
                self.main[player] = true;
                self.stale |= 1 << player;
            }
        }
    }

    /// A read: the two bits that the chip drives.
    pub(super) fn read(&mut self, register: u8, clock: u64) -> u8 {
        match register {
            0x00..=0x07 => {
                self.catch_up(clock, 0);
                self.collisions.read(register)
            }
            0x0C | 0x0D => {
                let i = usize::from(register - 0x0C);
                if self.buttons[i] { 0 } else { 0x80 }
            }
            0x08..=0x0B => {
                let charge = self.charge[usize::from(register - 0x08)];
                let high = self.vblank & 0x80 == 0 && clock - self.charging_since > u64::from(charge);
                if high && charge != u32::MAX { 0x80 } else { 0 }
            }
            _ => 0,
        }
    }

    /// Whether the clocks of a state that was restored can be.
    pub(super) fn is_before(&self, clock: u64) -> bool {
        [self.line_start, self.vsync_since, self.moved_at, self.charging_since]
            .iter()
            .all(|&past| past <= clock)
            && clock - self.line_start < u64::from(u32::MAX / 4)
    }

    pub(super) fn state(&mut self, tape: &mut Tape) {
        tape.long(&mut self.line_start);
        tape.signed(&mut self.done);
        tape.double(&mut self.line);
        tape.flag(&mut self.ended);
        tape.long(&mut self.frame_limit);
        tape.flag(&mut self.pal);
        tape.byte(&mut self.vsync);
        tape.long(&mut self.vsync_since);
        tape.byte(&mut self.vblank);
        tape.bytes(&mut self.nusiz);
        tape.bytes(&mut self.colours.players);
        tape.byte(&mut self.colours.playfield);
        tape.byte(&mut self.colours.background);
        tape.byte(&mut self.colours.lost);
        tape.byte(&mut self.ctrlpf);
        tape.flag(&mut self.reflected_playfield);
        tape.bytes(&mut self.playfield);
        tape.bytes(&mut self.graphics);
        tape.bytes(&mut self.old_graphics);
        for i in 0..2 {
            tape.flag(&mut self.reflected[i]);
            tape.flag(&mut self.delayed[i]);
            tape.flag(&mut self.missiles[i]);
            tape.flag(&mut self.locked[i]);
            tape.flag(&mut self.main[i]);
            tape.flag(&mut self.buttons[i]);
            tape.flag(&mut self.latches[i]);
        }
        for charge in &mut self.charge {
            tape.double(charge);
        }
        tape.long(&mut self.charging_since);
        tape.flag(&mut self.ball);
        tape.flag(&mut self.old_ball);
        tape.flag(&mut self.delayed_ball);
        tape.bytes(&mut self.x);
        tape.bytes(&mut self.motion);
        tape.flag(&mut self.comb);
        tape.flag(&mut self.comb_next);
        tape.flag(&mut self.combs);
        tape.long(&mut self.moved_at);
        self.stars.state(tape);
        self.collisions.state(tape);
        self.picture.state(tape);
        self.stale = 0x3F;
        self.like_above = false;
        self.done = self.done.clamp(0, WIDTH);
        self.x = self.x.map(|x| x % WIDTH as u8);
    }
}

/// How many pixels after the write a register takes effect.
#[inline]
fn delay(register: u8, pixel: i32) -> i32 {
    match register {
        0x01 | 0x0B | 0x0C | 0x1B | 0x1C => 1,
        0x04 | 0x05 | 0x12 | 0x13 => 8,
        // The playfield is fetched for four pixels at a time.
        0x0D..=0x0F => ((pixel + 2 + 3) & !3) - pixel,
        _ => 0,
    }
}

/// Where an object comes to lie that is reset at this pixel. Resets in the blank part all give the same position.
fn reset_position(pixel: i32, least: i32, delay: i32) -> u8 {
    ((pixel + delay).max(least) % WIDTH) as u8
}
