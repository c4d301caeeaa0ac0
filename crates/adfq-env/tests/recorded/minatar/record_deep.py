"""Records Seaquest and Space Invaders with players, and chance, that reach deep into their rules.

    venv/bin/python record_deep.py [GAME...]

What record.py says holds here too: the same files, the same way to use the package. Players know what one sees, and
try things out on copies of the game. Chance is tilted in some runs, which the package cannot tell from luck.
"""

import copy
import sys

import numpy as np

import record
from record import Noting

NOOP, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
RUNS = {
    "seaquest": [
        {"sticky": 0.1, "ramping": True, "play": "random", "tilt": "fair", "events": 600},
        {"sticky": 0.0, "ramping": False, "play": "random", "tilt": "fair", "events": 400},
        {"sticky": 0.1, "ramping": True, "play": "plan", "tilt": "fair", "events": 1600},
        {"sticky": 0.0, "ramping": True, "play": "plan", "tilt": "calm", "events": 2500},
        {"sticky": 0.0, "ramping": True, "play": "plan", "tilt": "turn", "events": 4000},
        {"sticky": 0.0, "ramping": False, "play": "plan", "tilt": "meet", "events": 1500},
        {"sticky": 0.1, "ramping": False, "play": "plan", "tilt": "calm", "events": 1000},
        {"sticky": 0.1, "ramping": True, "play": "plan", "tilt": "crowd", "events": 1500},
        {"sticky": 0.0, "ramping": False, "play": "plan", "tilt": "submarines", "events": 3000},
        {"sticky": 0.1, "ramping": True, "play": "plan", "tilt": "turn", "events": 3000},
    ],
    "space_invaders": [
        {"sticky": 0.1, "ramping": True, "play": "random", "tilt": "fair", "events": 1500},
        {"sticky": 0.0, "ramping": False, "play": "random", "tilt": "fair", "events": 1000},
        {"sticky": 0.0, "ramping": True, "play": "plan", "tilt": "fair", "events": 6000},
        {"sticky": 0.1, "ramping": True, "play": "plan", "tilt": "fair", "events": 2500},
        {"sticky": 0.0, "ramping": False, "play": "plan", "tilt": "fair", "events": 2500},
    ],
}
# What the player of an episode has in mind; emptied by a reset.
mind = {}


class Tilted(Noting):
    """Chance for Seaquest: an enemy draws a direction, a kind and a row, after the one real number of sticky actions;
    a diver a direction and a row.

    calm: enemies stay in the two lowest rows, divers in the three uppermost; meet: all divers come in the third.
    crowd: all keep to three rows, which change slowly; submarines: so too, and most enemies are submarines.
    turn: calm until the player has made the game as hard as he wants, then submarines in two rows.
    """

    tilt = "fair"
    rows = 0

    def __init__(self, *arguments):
        super().__init__(*arguments)
        mind.clear()  # a run begins

    def one(self, n):
        kind = n == 0 and len(self.drawn) == 2
        enemy = n > 0 and len(self.drawn) == 3 and not any(bound for bound, _ in self.drawn)
        result = super().one(n)
        tilt = self.tilt
        if tilt == "turn":
            tilt = "submarines" if mind.get("full") and mind["hops"] == 0 else "calm"
        if tilt in ("calm", "meet") and n:
            result = 6 + result % 2 if enemy else 2 if tilt == "meet" else result % 3
        elif tilt in ("crowd", "submarines") and n:
            self.rows += 1
            result = (result % (2 if self.tilt == "turn" else 3) + self.rows // 40) % n
        elif tilt == "submarines" and kind:
            result //= 2
        self.drawn[-1] = (n, result)
        return result


def trial(env, player):
    """A copy to try things out on, with chance of its own."""
    return record.use(copy.deepcopy(env), Noting(player.randint(1 << 31)))


def survives(env, action, player, steps):
    """Whether one lives after an action and then anything, the best of three times."""
    for _ in range(3):
        sim, over = trial(env, player), False
        for step in range(steps):
            _, over = sim.act(action if step == 0 else int(player.randint(6)))
            if over:
                break
        if not over:
            return True
    return False


def toward(row, column, to_row, to_column, player):
    ways = {LEFT: to_column < column, UP: to_row < row, RIGHT: to_column > column, DOWN: to_row > row}
    ways = [way for way, leads in ways.items() if leads]
    return int(player.choice(ways)) if ways else NOOP


def dive(env, player):
    """What a Seaquest player with this in mind would do."""
    state = env.state()
    row, column = np.argwhere(state[:, :, 0])[0]
    aboard = int(state[9, :, 8].sum())
    if not mind:
        mind.update(
            want=int(player.choice([1, 2, 4, 6, 6, 6, 6, 7])),  # divers; 7: linger with a full load
            brink=int(player.choice([-1, 0, 0, 1, 1, 2, 30, 30, 30, 30])),  # air with which to be back at the surface
            careful=player.rand() < 0.7,
            hops=int(player.choice([0, 10, 50, 100])),  # up and down after a full load: each makes the game harder
            full=False,
            air=200,
        )
        if mind["brink"] < 30:
            mind.update(want=7, careful=False)
        if env.random.tilt == "turn":
            mind.update(want=6, brink=30, careful=True, hops=int(player.choice([30, 60])))
    mind["air"] = mind["air"] - 1 if row > 0 else 200
    if env.random.tilt == "meet":
        return meet(state, row, column, aboard, player)
    if row == 0 and mind["full"] and aboard == 0 and mind["hops"] > 0:
        mind["hops"] -= 1
        return DOWN if player.rand() < 0.7 else FIRE
    mind["full"] |= aboard == 6
    if mind["full"] and aboard < 5 and mind["hops"] > 0:
        return UP
    if row > 0 and aboard and (mind["air"] - row <= mind["brink"] or aboard >= mind["want"]):
        return UP
    divers = np.argwhere(state[:9, :, 9])
    if aboard and mind["brink"] < 30 and mind["want"] > aboard and not len(divers):
        return DOWN if row == 0 else NOOP
    if len(divers) and player.rand() < 0.85:
        nearest = divers[np.abs(divers - [row, column]).sum(axis=1).argmin()]
        return toward(row, column, *nearest, player)
    enemies = [at for line, at in np.argwhere(state[:9, :, 5] | state[:9, :, 6]) if line == row]
    if enemies and player.rand() < 0.8:
        faces_right = column > 0 and state[row, column - 1, 1]
        return FIRE if (enemies[0] > column) == faces_right else LEFT if enemies[0] < column else RIGHT
    return DOWN if row < 2 else int(player.choice([NOOP, LEFT, RIGHT, DOWN, FIRE, FIRE] + [UP] * int(row > 1)))


def meet(state, row, column, aboard, player):
    """With room for one more, waits below for two divers in one cell: they have tails on both sides of it."""
    if row > 0 and (mind["air"] < 30 or aboard == 6):
        return UP
    divers, tails = state[3, :, 9], state[3, :, 3]
    if aboard != 5:
        return toward(row, column, 3, divers.argmax(), player) if divers.any() else DOWN if row < 4 else NOOP
    both = [at for at in range(1, 9) if divers[at] and tails[at - 1] and tails[at + 1]]
    return toward(row, column, *((3, both[0]) if both else (4, 5)), player)


def seaquest(env, player):
    wished = dive(env, player)
    if not mind["careful"]:
        return wished
    for action in [wished, *player.permutation(6)]:
        if survives(env, int(action), player, 6):
            return int(action)
    return wished


def hits(env, player):
    """Whether a shot fired now will hit: where the aliens will be does not depend on the player."""
    sim = trial(env, player)
    return sum(sim.act(FIRE if step == 0 else NOOP)[0] for step in range(10)) > 0


def space_invaders(env, player):
    state = env.state()
    column, aliens, bombs = int(state[9, :, 0].argmax()), state[:, :, 1], state[:, :, 5]
    columns = np.flatnonzero(aliens.any(axis=0))
    if not mind:
        # Some spare the last few aliens, so that these reach the ground; some shoot away the middle and wait there.
        mind.update(spare=int(player.choice([0, 0, 0, 0, 0, 1, 24])), gap=player.rand() < 0.25, fired=0)
    middle = columns[0] + 2 + int(not aliens[:, min(columns[0] + 3, 9)].any())
    shoots = column in (columns[0] + 2, columns[0] + 3) if mind["gap"] else aliens.sum() > mind["spare"]
    mind["fired"] += 1
    if shoots and mind["fired"] > 5 and not bombs[8, column] and hits(env, player):
        mind["fired"] = 0
        return FIRE
    target = columns[np.abs(columns - column).argmin()] if player.rand() < 0.5 else 4.5
    target = middle if mind["gap"] else target
    wished = LEFT if target < column else RIGHT if target > column else NOOP
    for way in [wished, *player.permutation([LEFT, NOOP, RIGHT])]:
        if survives(env, int(way), player, 8):
            return int(way)
    return wished


def choose(env, run, over, player):
    """As in record.py; a reset clears the mind."""
    env.random.tilt = run["tilt"]
    # Where it is calm, an episode would go on for ever.
    chance = 0.002 if run["play"] == "random" else {"calm": 0.004, "meet": 0.001, "turn": 0.001}.get(run["tilt"], 0.0)
    if player.rand() < (0.8 if over else chance):
        mind.clear()
        return record.RESET
    if over or run["play"] == "random" or player.rand() < 0.01:
        return int(player.randint(6))
    return {"seaquest": seaquest, "space_invaders": space_invaders}[env.env_name](env, player)


if __name__ == "__main__":
    record.runs, record.choose, record.Noting = RUNS.get, choose, Tilted
    for name in sys.argv[1:] or RUNS:
        record.record(name)
