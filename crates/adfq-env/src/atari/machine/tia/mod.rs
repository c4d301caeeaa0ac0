//! The TIA: the picture, its collisions, and the inputs that are not on the ports.
//!
//! The beam is moved lazily. A write first draws the line up to the pixel at which it takes effect, and then changes the
//! register. Between two writes nothing changes, so whole runs of pixels are drawn, and tested for collisions, as sets.

mod collision;
mod mask;
mod motion;
mod objects;
mod picture;
mod registers;
mod stars;

use super::tape::Tape;
use collision::Collisions;
use mask::{Mask, WIDTH};
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

    /// Whether the frame is over: the program has ended it, or it is as long as ALE lets it be.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        self.ended
    }

    /// A frame that is too long ends with this write.
    #[inline(always)]
    fn end_if_long(&mut self, written_at: u64) {
        if written_at >= self.frame_limit {
            self.ended = true;
        }
    }

    /// A write to WSYNC, which stops the processor until the start of the next line: the clock then. If that is now, it does not stop.
    #[inline(always)]
    pub(super) fn wait(&mut self, clock: u64) -> u64 {
        self.end_if_long(clock);
        self.next_line(clock)
    }

    /// The start of the next line; now, if that is the start of one.
    #[inline]
    fn next_line(&self, clock: u64) -> u64 {
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

    /// Draws up to the present pixel and `delay` pixels more.
    #[inline]
    fn catch_up(&mut self, clock: u64, delay: i32) {
        // A line ends after its last clock: what is written in that clock still belongs to it.
        if clock - self.line_start > LINE {
            self.finish_lines(clock);
        }
        let to = (clock - self.line_start) as i32 * 3 - BLANK + delay;
        if to > self.done && self.picture.hidden_lines(self.line) == 0 {
            self.draw_to(to.min(WIDTH));
        }
    }

    /// Draws what is left of the lines before the present one. Lines that are not shown are passed over: ALE's chip does
    /// nothing on them, so there are no collisions, and what is to last for one line waits for the first that is shown.
    #[inline(never)]
    fn finish_lines(&mut self, clock: u64) {
        let mut gone = u64::from((clock - self.line_start - 1) as u32 / LINE as u32);
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
        let present = self.present();
        let collides = self.collisions.can_grow(present);
        if !self.picture.is_drawn() && !collides {
            return;
        }
        if self.stale != 0 {
            self.refresh();
        }
        let span = Mask::span(from, to);
        if collides {
            self.collisions.add(&self.masks, present, &span);
        }
        let Some(row) = self.picture.row(self.line) else { return };
        // A row of known length is filled without a call.
        match (from, to) {
            (0, WIDTH) => row.fill(self.colours.background),
            _ => row[from as usize..to as usize].fill(self.colours.background),
        }
        if present != 0 {
            picture::paint(row, &span, &self.masks, &self.colours, self.ctrlpf);
        }
        if self.comb && from < 8 {
            row[from as usize..to.min(8) as usize].fill(0);
        }
    }

    /// The objects that the registers show, wherever they are. All others have no pixels.
    #[inline]
    fn present(&self) -> u8 {
        u8::from(self.shown_graphics(0) != 0) << P0
            | u8::from(self.shown_graphics(1) != 0) << P1
            | u8::from(self.missiles[0]) << M0
            | u8::from(self.missiles[1]) << M1
            | u8::from(self.shows_ball()) << BALL
            | u8::from(self.playfield != [0; 3]) << PLAYFIELD
    }

    /// Brings the masks up to date.
    fn refresh(&mut self) {
        let stale = std::mem::take(&mut self.stale);
        for i in 0..2 {
            if stale & 1 << (P0 + i) != 0 {
                self.masks[P0 + i] = self.player(i);
            }
            if stale & 1 << (M0 + i) != 0 {
                self.masks[M0 + i] = self.missile(i);
            }
        }
        if stale & 1 << BALL != 0 {
            self.masks[BALL] =
                if self.shows_ball() { objects::ball(self.ctrlpf, self.x[BALL]) } else { Mask::EMPTY };
        }
        if stale & 1 << PLAYFIELD != 0 {
            self.masks[PLAYFIELD] = objects::playfield(self.playfield, self.reflected_playfield);
        }
    }

    fn player(&self, i: usize) -> Mask {
        objects::player(
            self.shown_graphics(i),
            self.reflected[i],
            self.nusiz[i],
            self.x[P0 + i],
            self.main[i],
        )
    }

    fn missile(&self, i: usize) -> Mask {
        let look = if i == 0 { self.stars.look } else { Look::Usual };
        if !self.missiles[i] || self.locked[i] || look == Look::Hidden {
            return Mask::EMPTY;
        }
        let nusiz = if look == Look::Wide { self.nusiz[i] | 0x10 } else { self.nusiz[i] };
        objects::missile(nusiz, self.x[M0 + i])
    }

    /// The graphics of a player, with vertical delay.
    #[inline]
    fn shown_graphics(&self, i: usize) -> u8 {
        if self.delayed[i] { self.old_graphics[i] } else { self.graphics[i] }
    }

    #[inline]
    fn shows_ball(&self) -> bool {
        if self.delayed_ball { self.old_ball } else { self.ball }
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
