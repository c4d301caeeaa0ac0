//! The games that the console of this crate plays as ALE does, by name.

use super::rules::*;
use super::start::*;
use super::{Game, Lives::*, Score::*};
use crate::atari::Action::{self, *};
use crate::atari::machine::{Controller, Shown};

const ALL: &[Action] = Action::ALL;

/// What is shown of games for PAL.
const TALL: Shown = Shown { top: 34, rows: 250 };

/// What is the same for most games.
const PLAIN: Game = Game {
    name: "",
    md5: "",
    actions: ALL,
    controller: Controller::Joystick,
    shown: Shown { top: 34, rows: 210 },
    comb: true,
    draw_all: false,
    start: SHORT,
    score: Points(|_| 0),
    lives: Always(0),
    over: |_, _| false,
};

#[rustfmt::skip]
pub(super) const GAMES: &[Game] = &[
    Game {
        name: "adventure", md5: "4b27f5397c442d25f0c418ccdacf1926",
        actions: ALL,
        score: Between(|_, r| i32::from(r[57] == 0x12)),
        lives: Always(1), over: |_, r| r[57] == 0x12 || r[96] == 2,
        shown: TALL, start: LONG, ..PLAIN
    },
    Game {
        name: "air_raid", md5: "35be55426c1fec32dfb503b4f0651572",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[40, 41, 42])),
        lives: Are(|_| 1), over: |_, r| r[39] == 255,
        shown: TALL, start: FIRE, ..PLAIN
    },
    Game {
        name: "alien", md5: "f1a0a23e6464d954e3a9579c4ccd01c8",
        actions: ALL,
        score: Points(alien_score),
        lives: Are(|r| low(r[64])), over: |_, r| low(r[64]) == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "amidar", md5: "acb7750b4d0c4bd34969802a7deb2990",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire, DownFire],
        score: Points(|r| bcd(r, &[91, 90, 89])),
        lives: Are(|r| low(r[86])), over: |_, r| r[86] == 128, ..PLAIN
    },
    Game {
        name: "assault", md5: "de78b3a064d374390ac0710f95edde92",
        actions: &[Noop, Fire, Up, Right, Left, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[0, 1, 2])),
        lives: Are(|r| whole(r[101])), over: |_, r| r[101] == 0, ..PLAIN
    },
    Game {
        name: "asterix", md5: "89a68746eff7f266bbf08de2483abe55",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft],
        score: Points(|r| bcd(r, &[94, 95, 96])),
        lives: Are(|r| low(r[83])), over: |_, r| r[71] == 1 && low(r[83]) == 1,
        start: FIRE, ..PLAIN
    },
    Game {
        name: "asteroids", md5: "ccbd36746ed4525821a8083b0d6d2c2c",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpRight, UpLeft, UpFire, RightFire, LeftFire, DownFire,
            UpRightFire, UpLeftFire],
        score: Rolling(|r| 10 * bcd(r, &[61, 62]), 100_000),
        lives: Are(|r| high(r[60])), over: |_, r| high(r[60]) == 0,
        comb: false, start: LONG, ..PLAIN
    },
    Game {
        name: "atlantis", md5: "9ad36e699ef6f45d9eb6c4cf90475c9f",
        actions: &[Noop, Fire, RightFire, LeftFire],
        score: Between(|b, r| if r[113] == 255 { 0 } else { 100 * (bcd(r, &[33, 35, 34]) - bcd(b, &[33, 35, 34])) }),
        lives: Are(|r| whole(r[113])), over: |_, r| r[113] == 255,
        start: LONG, ..PLAIN
    },
    Game {
        name: "atlantis2", md5: "826481f6fc53ea47c9f272f7050eedf7",
        actions: &[Noop, Fire, RightFire, LeftFire],
        score: Between(|b, r| if r[113] == 255 { 0 } else { bcd(r, &[35, 34, 33]) - bcd(b, &[35, 34, 33]) }),
        lives: Are(|r| whole(r[113])), over: |_, r| r[113] == 255, ..PLAIN
    },
    Game {
        name: "bank_heist", md5: "00ce0bdd43aed84a983bef38fe7f5ee3",
        actions: ALL,
        score: Points(|r| bcd(r, &[88, 89, 90])),
        lives: Are(|r| whole(r[85])), over: |_, r| r[78] == 1 && r[85] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "basic_math", md5: "819aeeb9a2e11deb54e6de334f843894",
        actions: &[Noop, Fire, Up, Right, Left, Down],
        score: Points(|r| bcd(r, &[4])),
        lives: Are(|_| 1), over: |_, r| r[6] != 0,
        start: &BASIC_MATH, ..PLAIN
    },
    Game {
        name: "battle_zone", md5: "41f252a66c6301f1e8ab3612c19bc5d4",
        actions: ALL,
        score: Points(|r| 1000 * digits(&[r[30] >> 4, r[30], r[29] >> 4])),
        lives: Are(|r| low(r[58])), over: |_, r| low(r[58]) == 0,
        comb: false, start: LONG, ..PLAIN
    },
    Game {
        name: "beam_rider", md5: "79ab4123a83dc11d468fb2108ea09e2e",
        actions: &[Noop, Fire, Up, Right, Left, UpRight, UpLeft, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[11, 10, 9])),
        lives: Follow(3, beam_rider_lives),
        over: |_, r| r[5] == 255,
        start: &[(Reset, 8), (Do(Right), 1)], ..PLAIN
    },
    Game {
        name: "berzerk", md5: "136f75c4dd02c29283752b7e5799f978",
        actions: ALL,
        score: Points(|r| bcd(r, &[93, 94, 95])),
        lives: Are(|r| whole(r[90].wrapping_add(1))), over: |_, r| r[90] == 255,
        start: &[(Reset, 12), (Do(Fire), 20)], ..PLAIN
    },
    Game {
        name: "bowling", md5: "c9b7afad3bfd922e006a6bfc1d4f3fe7",
        actions: &[Noop, Fire, Up, Down, UpFire, DownFire],
        score: Points(|r| bcd(r, &[38, 33])),
        lives: Always(0), over: |_, r| r[36] > 16,
        start: LONG, ..PLAIN
    },
    Game {
        name: "boxing", md5: "c3ef5c4653212088eda54dc91d787870",
        actions: ALL,
        score: Points(|r| knockout(r[18]) - knockout(r[19])),
        lives: Always(0), over: boxing_over, ..PLAIN
    },
    Game {
        name: "breakout", md5: "f34f08e5eb96e500e851a80be3277a56",
        actions: &[Noop, Fire, Right, Left],
        score: Points(|r| 100 * low(r[76]) + bcd(r, &[77])),
        lives: Are(|r| whole(r[57])), over: |_, r| r[57] == 0,
        controller: Controller::Paddles, start: LONG, ..PLAIN
    },
    Game {
        name: "carnival", md5: "028024fb8e5e5f18ea586652f9799c96",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| 10 * bcd(r, &[45, 46])),
        lives: Always(0), over: |_, r| r[3] == 0,
        shown: Shown { top: 26, rows: 214 }, ..PLAIN
    },
    Game {
        name: "centipede", md5: "91c2098e88a6b13f977af8c003e0bca5",
        actions: ALL,
        score: Between(|b, r| (bcd(r, &[116, 117, 118]) - bcd(b, &[116, 117, 118])).max(0)),
        lives: Are(|r| (high(r[109]) & 7) + 1), over: |_, r| r[38] & 64 != 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "chopper_command", md5: "c1cb228470a87beb5f36e90ac745da26",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[108, 110])),
        lives: Are(|r| low(r[100])), over: |_, r| low(r[100]) == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "crazy_climber", md5: "55ef7b65066428367844342ed59f956c",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft],
        score: Between(|b, r| (climber_score(r) - climber_score(b)).max(0)),
        lives: Are(|r| whole(r[42])), over: |_, r| r[42] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "defender", md5: "0f643c34e40e3f1daafd9c524d3ffe64",
        actions: ALL,
        score: Points(|r| digits(&[r[33], r[32], r[31], r[30], r[29], r[28]])),
        lives: Are(|r| whole(r[66])), over: |_, r| r[66] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "demon_attack", md5: "f0e0addc07971561ab80d9abe1b8d333",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(demon_attack_score),
        lives: Are(|r| whole(r[114]) + 1), over: |_, r| r[114] == 0 && r[113] == 189,
        start: LONG, ..PLAIN
    },
    Game {
        name: "double_dunk", md5: "368d88a6c071caba60b4f778615aae94",
        actions: ALL,
        score: Points(|r| bcd(r, &[118]) - bcd(r, &[119])),
        lives: Always(0), over: |_, r| r[126] == 0xE7 && bcd(r, &[118]).max(bcd(r, &[119])) >= 24,
        start: DOUBLE_DUNK, ..PLAIN
    },
    Game {
        name: "earthworld", md5: "5aea9974b975a6a844e6df10d2b861c4",
        actions: ALL,
        score: Points(|r| bcd(r, &[39])),
        lives: Are(|_| 1), over: |_, r| bcd(r, &[39]) == 10, ..PLAIN
    },
    Game {
        name: "elevator_action", md5: "71f8bacfbdca019113f3f0801849057e",
        actions: ALL,
        score: Points(|r| bcd(r, &[7, 8, 9])),
        lives: Are(|r| whole(r[3])), over: |_, r| r[3] == 0 && r[1] != 0,
        start: &[(Reset, 8), (Do(Fire), 16)], ..PLAIN
    },
    Game {
        name: "enduro", md5: "94b92a882f6dbaa6993a46e2dcc58402",
        actions: &[Noop, Fire, Right, Left, Down, DownRight, DownLeft, RightFire, LeftFire],
        score: Points(enduro_score),
        lives: Always(0), over: |_, r| r[47] == 255,
        start: FIRE, ..PLAIN
    },
    Game {
        name: "fishing_derby", md5: "b8865f05676e64f3bec72b9defdacfa7",
        actions: ALL,
        score: Points(|r| bcd(r, &[61]) - bcd(r, &[62])),
        lives: Always(0), over: |_, r| r[61] == 0x99 || r[62] == 0x99, ..PLAIN
    },
    Game {
        name: "flag_capture", md5: "30512e0e83903fc05541d2f6a6a62654",
        actions: ALL,
        score: Points(|r| bcd(r, &[106])),
        lives: Are(|_| 1), over: |_, r| r[107] == 0,
        start: &FLAG_CAPTURE, ..PLAIN
    },
    Game {
        name: "freeway", md5: "8e0ab801b1705a740b476b7f588c6d16",
        actions: &[Noop, Up, Down],
        score: Between(|b, r| (bcd(r, &[103]) - bcd(b, &[103])).clamp(0, 1)),
        lives: Always(0), over: |_, r| r[22] == 1,
        start: LONG, ..PLAIN
    },
    Game {
        name: "frogger", md5: "081e2c114c9c20b61acf25fc95c71bf4",
        actions: &[Noop, Up, Right, Left, Down],
        score: Points(|r| bcd(r, &[76, 78])),
        lives: Are(|r| whole(r[80])), over: |_, r| r[80] == 255,
        start: LONG, ..PLAIN
    },
    Game {
        name: "frostbite", md5: "4ca73eb959299471788f0b685c3ba0b5",
        actions: ALL,
        score: Points(|r| bcd(r, &[72, 73, 74])),
        lives: Are(|r| low(r[76]) + 1), over: |_, r| r[113] & 128 != 0 && low(r[76]) == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "galaxian", md5: "211774f4c5739042618be8ff67351177",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Rolling(|r| bcd(r, &[44, 45, 46]), 1_000_000),
        lives: Are(|r| whole(r[57]) + 1), over: |_, r| r[63] & 128 != 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "gopher", md5: "c16c79aad6272baffb8aae9a7fff0864",
        actions: &[Noop, Fire, Up, Right, Left, UpFire, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[48, 49, 50])),
        lives: Are(|r| (r[52] & 7).count_ones() as i32), over: |_, r| r[52] & 7 == 0,
        start: &[(Reset, 16), (Do(Fire), 1)], ..PLAIN
    },
    Game {
        name: "gravitar", md5: "8ac18076d01a6b63acf6e2cab4968940",
        actions: ALL,
        score: Points(|r| bcd(r, &[7, 8, 9])),
        lives: Are(|r| if r[1] == 0 { 6 } else { whole(r[4]) + 1 }), over: |_, r| r[1] == 1,
        start: &[(Reset, 8), (Do(Fire), 16)], ..PLAIN
    },
    Game {
        name: "hangman", md5: "f16c709df0a6c52f47ff52b9d95b7d8d",
        actions: ALL,
        score: Points(|r| bcd(r, &[107]) - bcd(r, &[108])),
        lives: Are(|_| 1), over: |_, r| bcd(r, &[107]) != bcd(r, &[108]),
        start: LONG, ..PLAIN
    },
    Game {
        name: "haunted_house", md5: "f0a6e99f5875891246c3dbecbf2d2cea",
        actions: ALL,
        score: Between(|b, r| 100 * i32::from(r[25] == 0x44) - i32::from(bcd(r, &[2]) != bcd(b, &[2]))),
        lives: Are(|r| whole(r[22])), over: |_, r| r[22] == 0 || r[25] == 0x44,
        start: LONG, ..PLAIN
    },
    Game {
        name: "hero", md5: "fca4a5be1251927027f2c24774a02160",
        actions: ALL,
        score: Points(|r| bcd(r, &[55, 56, 57])),
        lives: Are(|r| whole(r[51])), over: |_, r| r[51] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "ice_hockey", md5: "a4c08c4994eb9d24fb78be1793e82e26",
        actions: ALL,
        score: Between(|b, r| (bcd(r, &[10]) - bcd(r, &[11]) - bcd(b, &[10]) + bcd(b, &[11])).min(1)),
        lives: Always(0), over: |_, r| r[6] == 0 && r[7] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "jamesbond", md5: "e51030251e440cffaab1ac63438b44ae",
        actions: ALL,
        score: Points(|r| bcd(r, &[94, 93, 92])),
        lives: Are(|r| low(r[6]) + 1), over: |_, r| r[12] == 104 && low(r[6]) == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "journey_escape", md5: "718ae62c70af4e5fd8e932fee216948a",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft, RightFire, LeftFire,
            DownFire, UpRightFire, UpLeftFire, DownRightFire, DownLeftFire],
        score: Between(journey_escape_reward),
        lives: Always(0), over: |_, r| r[21] == 0 && r[22] == 0,
        shown: Shown { top: 34, rows: 230 }, start: FIRE, ..PLAIN
    },
    Game {
        name: "kaboom", md5: "5428cdfada281c569c74c7308c7f2c26",
        actions: &[Noop, Fire, Right, Left],
        score: Points(|r| bcd(r, &[35, 36, 37])),
        lives: Are(|_| 1), over: |_, r| r[33] == 0 || bcd(r, &[35, 36, 37]) == 999_999,
        controller: Controller::Paddles, start: FIRE, ..PLAIN
    },
    Game {
        name: "kangaroo", md5: "4326edb70ff20d0ee5ba58fa5cb09d60",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[39, 40])),
        lives: Are(|r| whole(r[45] & 7) + 1), over: |_, r| r[45] == 255,
        start: LONG, ..PLAIN
    },
    Game {
        name: "keystone_kapers", md5: "6c1f3f2e359dbf55df462ccbcdd2f6bf",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft, UpFire, RightFire,
            LeftFire, DownFire],
        score: Points(|r| bcd(r, &[27, 28])),
        lives: Are(|r| whole(r[22])), over: |_, r| r[22] == 0 && r[8] == 0,
        shown: TALL, start: &[(Reset, 9)], ..PLAIN
    },
    Game {
        name: "king_kong", md5: "0dd4c69b5f9a7ae96a7a08329496779a",
        actions: &[Noop, Fire, Up, Right, Left, Down],
        score: Points(|r| bcd(r, &[2, 3])),
        lives: Are(|r| whole(r[110])), over: |_, r| r[110] == 0,
        shown: TALL, start: LONG, ..PLAIN
    },
    Game {
        name: "koolaid", md5: "534e23210dd1993c828d944c6ac4d9fb",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft],
        score: Points(|r| 100 * bcd(r, &[0, 1])),
        lives: Always(0), over: |_, r| r[81] == 128, ..PLAIN
    },
    Game {
        name: "krull", md5: "4baada22435320d185c95b7dd2bcdb24",
        actions: ALL,
        score: Points(|r| bcd(r, &[28, 29, 30])),
        lives: Are(|r| whole(r[31] & 7) + 1), over: |_, r| r[31] == 0 && r[0] == 128 && r[34] == 3,
        draw_all: true, ..PLAIN
    },
    Game {
        name: "kung_fu_master", md5: "5b92a93b23523ff16e2789b820e2a4c5",
        actions: &[Noop, Up, Right, Left, Down, DownRight, DownLeft, RightFire, LeftFire, DownFire,
            UpRightFire, UpLeftFire, DownRightFire, DownLeftFire],
        score: Points(|r| bcd(r, &[24, 25, 26])),
        lives: Are(|r| whole(r[29] & 7) + 1), over: |_, r| r[29] == 255, ..PLAIN
    },
    Game {
        name: "laser_gates", md5: "8e4cd60d93fcde8065c1a2b972a26377",
        actions: ALL,
        score: Points(|r| bcd(r, &[0, 1, 2])),
        lives: Always(0), over: |_, r| r[3] == 0,
        shown: TALL, start: &[(Reset, 9)], ..PLAIN
    },
    Game {
        name: "mario_bros", md5: "e908611d99890733be31733a979c62d8",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[9, 10])),
        lives: Are(|r| whole(r[7])), over: |_, r| r[7] == 0,
        start: &[(Reset, 8), (Do(Fire), 17)], ..PLAIN
    },
    Game {
        name: "montezuma_revenge", md5: "3347a6dd59049b15a38394aa2dafa585",
        actions: ALL,
        score: Points(|r| bcd(r, &[19, 20, 21])),
        lives: Are(|r| whole(r[58] & 7) + 1), over: |_, r| r[58] == 0 && r[126] == 96, ..PLAIN
    },
    Game {
        name: "mr_do", md5: "aa7bb54d2c189a31bb1fa20099e42859",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire, DownFire],
        score: Points(|r| 10 * bcd(r, &[3, 2])),
        lives: Are(|r| whole(r[91])), over: |_, r| r[90] == 0x40,
        shown: TALL, start: &MR_DO, ..PLAIN
    },
    Game {
        name: "ms_pacman", md5: "87e79cd41ce136fd4f72cc6e2c161bee",
        actions: &[Noop, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft],
        score: Points(|r| bcd(r, &[122, 121, 120])),
        lives: Are(|r| whole(r[123] & 7) + 1), over: |_, r| r[39] == 83 && low(r[123]) == 0,
        comb: false, start: LONG, ..PLAIN
    },
    Game {
        name: "name_this_game", md5: "36306070f0c90a72461551a7a4f3a209",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[68, 69, 70])),
        lives: Are(|r| whole(r[71] & 7)), over: |_, r| r[71] & 7 == 0,
        start: &[(Reset, 4), (Nothing, 402), (Reset, 8)], ..PLAIN
    },
    Game {
        name: "phoenix", md5: "7e52a95074a66640fcfde124fffd491a",
        actions: &[Noop, Fire, Right, Left, Down, RightFire, LeftFire, DownFire],
        score: Points(|r| 100 * bcd(r, &[73, 72]) + 10 * high(r[71])),
        lives: Are(|r| whole(r[75] & 7)), over: |_, r| r[76] == 128, ..PLAIN
    },
    Game {
        name: "pitfall", md5: "3e90cf23106f2e08b2781e41299de556",
        actions: ALL,
        score: Points(|r| bcd(r, &[85, 86, 87])),
        lives: Are(pitfall_lives), over: |_, r| r[30] != 0 && high(r[0]) == 0,
        start: &[(Reset, 8), (Do(Up), 1)], ..PLAIN
    },
    Game {
        name: "pong", md5: "60e0ea3cbe0913d39803477945e9e5ec",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| whole(r[14]) - whole(r[13])),
        lives: Always(0), over: |_, r| r[13] == 21 || r[14] == 21,
        controller: Controller::SecondPaddle, start: LONG, ..PLAIN
    },
    Game {
        name: "pooyan", md5: "4799a40b6e889370b7ee55c17ba65141",
        actions: &[Noop, Fire, Up, Down, UpFire, DownFire],
        score: Points(|r| bcd(r, &[8, 9, 10])),
        lives: Are(|r| whole(r[22] & 7) + 1), over: |_, r| r[22] == 0 && r[24] == 5,
        shown: Shown { top: 26, rows: 220 }, start: &[(Reset, 8), (Select, 3), (Reset, 4)], ..PLAIN
    },
    Game {
        name: "private_eye", md5: "ef3a4f64b6494ba770862768caf04b86",
        actions: ALL,
        score: Points(|r| bcd(r, &[72, 73, 74])),
        lives: Always(0), over: |_, r| r[66] > 1,
        start: &[(Reset, 12), (Do(Up), 1)], ..PLAIN
    },
    Game {
        name: "qbert", md5: "484b0076816a104875e00467d431c2d2",
        actions: &[Noop, Fire, Up, Right, Left, Down],
        score: Between(|b, r| if qbert_over(b, r) { 0 } else { bcd(r, &[89, 90, 91]) - bcd(b, &[89, 90, 91]) }),
        lives: Follow(4, |lives, b, r| lives - i32::from(r[8] == b[8].wrapping_sub(1))), over: qbert_over,
        shown: Shown { top: 40, rows: 210 }, ..PLAIN
    },
    Game {
        name: "riverraid", md5: "393948436d1f4cc3192410bb918f9724",
        actions: ALL,
        score: Points(riverraid_score),
        lives: Are(riverraid_lives), over: |b, r| b[64] == 89 && r[64] == 88, ..PLAIN
    },
    Game {
        name: "road_runner", md5: "ce5cc62608be2cd3ed8abd844efb8919",
        actions: ALL,
        score: Points(|r| 100 * digits(&[r[76], r[75], r[74], r[73]])),
        lives: Are(|r| whole(r[68] & 7) + 1), over: |_, r| r[68] & 7 == 0 && (r[57] != 0 || r[61] != 0), ..PLAIN
    },
    Game {
        name: "robotank", md5: "4f618c2429138e0280969193ed6c107e",
        actions: ALL,
        score: Points(|r| whole(r[53]) + 12 * whole(r[54])),
        lives: Are(|r| low(r[40]) + 1), over: |_, r| r[40] == 0 && r[52] == 255, ..PLAIN
    },
    Game {
        name: "seaquest", md5: "240bfbac5163af4df5ae713985386f92",
        actions: ALL,
        score: Points(|r| bcd(r, &[56, 57, 58])),
        lives: Are(|r| whole(r[59]) + 1), over: |_, r| r[35] != 0, ..PLAIN
    },
    Game {
        name: "sir_lancelot", md5: "dd0cbe5351551a538414fb9e37fc56e8",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[30, 31, 32])),
        lives: Are(|r| whole(r[41])), over: |_, r| r[41] == 0 && r[39] == 160,
        shown: TALL, start: &[(Reset, 9), (Do(Left), 1)], ..PLAIN
    },
    Game {
        name: "skiing", md5: "b76fbadc8ffb1f83e2ca08b6fb4d6c9f",
        actions: &[Noop, Right, Left],
        score: Points(|r| -(6000 * whole(r[104]) + bcd(r, &[105, 106]))),
        lives: Always(0), over: |_, r| r[17] == 255,
        controller: Controller::StickAlone, start: &[(Reset, 8), (Do(Down), 16)], ..PLAIN
    },
    Game {
        name: "solaris", md5: "e72eb8d4410152bdcb69e7fba327b420",
        actions: ALL,
        score: Points(|r| 10 * bcd(r, &[94, 93, 92])),
        lives: Are(|r| low(r[89])), over: |_, r| r[89] == 0, ..PLAIN
    },
    Game {
        name: "space_invaders", md5: "72ffbef6504b75e69ee1045af9075f66",
        actions: &[Noop, Fire, Right, Left, RightFire, LeftFire],
        score: Rolling(|r| bcd(r, &[102, 104]), 10_000),
        lives: Are(|r| whole(r[73])), over: |_, r| r[24] & 128 != 0 || r[73] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "star_gunner", md5: "a3c1c70024d7aabb41381adbfb6d3b25",
        actions: ALL,
        score: Points(|r| 100 * digits(&[r[6], r[5], r[4], r[3]])),
        lives: Follow(5, star_gunner_lives), over: |_, r| r[7] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "surround", md5: "4d7517ae69f95cfbc053be01312b7dba",
        actions: &[Noop, Up, Right, Left, Down],
        score: Points(|r| bcd(r, &[119]) - bcd(r, &[118])),
        lives: Are(|_| 1), over: |_, r| [118, 119].iter().any(|&i| bcd(r, &[i]) == 10),
        controller: Controller::RightJoystick, start: &[(Reset, 8), (Select, 3), (Reset, 4)], ..PLAIN
    },
    Game {
        name: "tennis", md5: "42cdd6a9e42a3639e190722b8ea3fc51",
        actions: ALL,
        score: Between(tennis_reward),
        lives: Always(0), over: tennis_over,
        start: LONG, ..PLAIN
    },
    Game {
        name: "tetris", md5: "b0e1ee07fbc73493eac5651a52f90f00",
        actions: &[Noop, Fire, Right, Left, Down],
        score: Between(|b, r| (bcd(r, &[114, 113]) - bcd(b, &[114, 113])).max(0)),
        lives: Always(0), over: |_, r| r[115] & 128 != 0, ..PLAIN
    },
    Game {
        name: "time_pilot", md5: "fc2104dd2dadf9a6176c1c1c8f87ced9",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire, DownFire],
        score: Points(|r| 100 * bcd(r, &[15, 13])),
        lives: Follow(5, |lives, _, r| if low(r[0]) == 2 { whole(r[11] & 7) + 1 } else { lives }), over: |_, r| r[32] != 0, ..PLAIN
    },
    Game {
        name: "trondead", md5: "fb27afe896e7c928089307b32e5642ee",
        actions: ALL,
        score: Points(|r| bcd(r, &[61, 62, 63])),
        lives: Are(|r| 5 - whole(r[72])), over: |_, r| r[72] == 5, ..PLAIN
    },
    Game {
        name: "turmoil", md5: "7a5463545dfb2dcfdafa6074b2f2c15e",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpRight, UpLeft, DownRight, DownLeft, RightFire, LeftFire],
        // What is still to be counted counts at once.
        score: Points(|r| 10 * (bcd(r, &[10, 9]) + whole(r[83]))),
        lives: Are(|r| whole(r[57])), over: |_, r| r[57] == 0 && r[69] == 1,
        start: &[(Reset, 12), (Do(Fire), 1)], ..PLAIN
    },
    Game {
        name: "tutankham", md5: "085322bae40d904f53bdcc56df0593fc",
        actions: &[Noop, Up, Right, Left, Down, UpFire, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[26, 28])),
        lives: Are(|r| i32::from(r[30] & 3)), over: |_, r| r[30] == 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "up_n_down", md5: "a499d720e7ee35c62424de882a3351b6",
        actions: &[Noop, Fire, Up, Down, UpFire, DownFire],
        score: Points(|r| bcd(r, &[0, 1, 2])),
        lives: Are(|r| low(r[6]) + 1), over: |_, r| low(r[6]) == 0 && r[20] > 64,
        shown: Shown { top: 30, rows: 210 }, start: FIRE, ..PLAIN
    },
    Game {
        name: "venture", md5: "3e899eba0ca8cd2972da1ae5479b4f0d",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[71, 72])),
        lives: Are(|r| whole(r[70] & 7) + 1), over: |_, r| r[70] == 0 && r[77] == 255 && r[63] & 128 != 0, ..PLAIN
    },
    Game {
        name: "video_pinball", md5: "107cc025334211e6d29da0b6be46aec7",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire],
        score: Points(|r| bcd(r, &[52, 50, 48])),
        lives: Are(|r| 4 + whole(r[40] & 1) - whole(r[25] & 7)), over: |_, r| r[47] & 1 != 0,
        start: LONG, ..PLAIN
    },
    Game {
        name: "wizard_of_wor", md5: "7e8aa18bc9502eb57daaf5e7c1e94da7",
        actions: &[Noop, Fire, Up, Right, Left, Down, UpFire, RightFire, LeftFire, DownFire],
        score: Points(|r| 10_000 * (10 * (high(r[8]) & 7) + low(r[8])) + 100 * bcd(r, &[6])),
        // The memory has those in reserve while one plays.
        lives: Follow(3, |lives, _, r| if r[87] & 1 == 0 { low(r[13]) } else { lives }), over: |_, r| low(r[13]) == 0 && r[116] == 248,
        controller: Controller::RightJoystick, ..PLAIN
    },
    Game {
        name: "yars_revenge", md5: "c5930d0e8cdae3e037349bfa08e871be",
        actions: ALL,
        score: Points(|r| bcd(r, &[96, 97, 98])),
        lives: Are(|r| high(r[30])), over: |_, r| high(r[30]) == 0,
        start: &YARS, ..PLAIN
    },
    Game {
        name: "zaxxon", md5: "eea0da9b987d661264cce69a7c13c3bd",
        actions: ALL,
        score: Points(|r| 100 * bcd(r, &[104, 105])),
        lives: Are(|r| whole(r[106] & 7)), over: |_, r| r[106] & 7 == 0,
        start: LONG, ..PLAIN
    },
];
