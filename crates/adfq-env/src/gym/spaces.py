"""Spaces of Gymnasium as the program has them: observations are frames of numbers, actions are counted from 0."""

import collections.abc
import functools
import itertools
import math
import operator

# What an observation is called where it is not one part of several.
WHOLE = "an observation"
# The most actions that the choices of several parts may multiply to: a network has an output for each.
MOST_ACTIONS = 1024
# So much of a space is shown.
MOST_SHOWN = 300


# --- Observations ----------------------------------------------------------------------------------------------------


def view_of(spaces, space):
    """The frame's shape, its kind of number, what scales it to about 1, and what writes observations into a frame."""
    import numpy as np

    if not is_numbers(spaces, space):
        size, is_bits, writer = part_of(spaces, space, WHOLE, space)
        if size == 0:
            raise no_observations(space, "there is no number in them")
        return [size], "u8" if is_bits else "f32", 1.0, writer
    shape, is_bytes = list(space.shape), space.dtype == np.uint8
    element = "u8" if is_bytes or space.dtype == bool else "f32"
    scale = scale_of(space) if is_bytes else 1.0
    put = functools.partial(whole, WHOLE, space.dtype)
    # Channels come last in a frame; an image whose first axis is its shortest has them first.
    if len(shape) == 3 and shape[0] < min(shape[1:]):
        return [*shape[1:], shape[0]], element, scale, lambda row: put(np.moveaxis(row, -1, 0))
    if len(shape) == 3:
        return shape, element, scale, put
    if len(shape) == 2 and is_bytes:
        return [*shape, 1], element, scale, lambda row: put(row[..., 0])
    return [int(np.prod(shape))], element, scale, lambda row: put(row.reshape(shape))


def part_of(spaces, space, name, all_of_it):
    """How many numbers a part of an observation becomes, whether each is 0 or 1, and what writes it into a row.

    Order and encoding are those of `gymnasium.spaces.utils.flatten`, except that bytes are scaled.
    """
    import numpy as np

    if isinstance(space, spaces.Discrete):
        first, count = int(space.start), int(space.n)
        return count, True, functools.partial(one_hot, name, first, count)
    if isinstance(space, spaces.MultiDiscrete):
        return int(space.nvec.sum()), True, functools.partial(one_hots, name, space)
    if isinstance(space, spaces.MultiBinary):
        bit = np.dtype(bool)
        return math.prod(space.shape), True, lambda row: whole(name, bit, row.reshape(space.shape))
    if is_numbers(spaces, space):
        writer = scaled if space.dtype == np.uint8 else finite if space.dtype.kind == "f" else box
        return math.prod(space.shape), space.dtype == bool, functools.partial(writer, name, space)
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        keys = list(space.spaces) if isinstance(space, spaces.Dict) else range(len(space.spaces))
        parts = [part_of(spaces, space.spaces[key], inner(name, key), all_of_it) for key in keys]
        sizes, are_bits, writers = zip(*parts) if parts else ((), (), ())
        each = each_key if isinstance(space, spaces.Dict) else each_place
        return sum(sizes), all(are_bits), functools.partial(each, name, keys, sizes, writers)
    known = "Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple of them"
    where = "" if name is WHOLE else f"{name} is {shown(space)}; "
    raise no_observations(all_of_it, f"{where}supported are {known}; wrap the environment")


def no_observations(space, reason):
    return Refused("space", what="observations", space=shown(space, MOST_SHOWN), reason=reason)


def is_numbers(spaces, space):
    return isinstance(space, spaces.Box) and space.dtype.kind in "biuf"


def scale_of(space):
    return 1.0 / max(float(space.high.max(initial=0)), 1.0)


def inner(name, key):
    """What a part of a part is called, as Python would write it."""
    outer = "observation" if name is WHOLE else name
    return f"{outer}[{json.dumps(key) if isinstance(key, str) else repr(key)}]"


def whole(name, promised, row):
    """Writes observations into an array of their shape. One that is as the space promises goes there at once."""
    import numpy as np

    array, shape = np.ndarray, row.shape

    def put(observation):
        if observation.__class__ is array and observation.dtype is promised and observation.shape == shape:
            row[...] = observation
        else:
            row[...] = fitting(name, observation, shape, promised)

    return put


def box(name, space, row):
    return whole(name, space.dtype, row.reshape(space.shape))


def finite(name, space, row):
    """As `box`. The program would find what is not finite, but not in which part."""
    import numpy as np

    put_numbers = box(name, space, row)

    def put(observation):
        put_numbers(observation)
        if not np.isfinite(row).all():
            raise gave(f"{name} that is not finite")

    return put


def scaled(name, space, row):
    """Bytes within several parts: the network sees them as it would see them alone."""
    import numpy as np

    row, scale = row.reshape(space.shape), scale_of(space)

    def put(observation):
        numbers = fitting(name, observation, space.shape, space.dtype)
        np.multiply(numbers, scale, out=row, dtype=np.float32, casting="unsafe")

    return put


def one_hot(name, first, count, row):
    def put(observation):
        try:
            place = operator.index(observation) - first
        except TypeError:
            raise gave(f"{name} that is no integer: {shown(observation)}") from None
        if not 0 <= place < count:
            what = "the observation" if name is WHOLE else f"{name} ="
            raise gave(f"{what} {observation}, the space promises {first} to {first + count - 1}")
        row.fill(0)
        row[place] = 1

    return put


def one_hots(name, space, row):
    import numpy as np

    first, count = space.start.reshape(-1), space.nvec.reshape(-1)
    offsets = np.cumsum(count) - count

    def put(observation):
        numbers = fitting(name, observation, space.shape, space.dtype).reshape(-1).astype(np.int64)
        places = numbers - first
        wrong = (places < 0) | (places >= count)
        if wrong.any():
            i = int(wrong.argmax())
            place = functools.reduce(inner, map(int, np.unravel_index(i, space.shape)), name)
            raise gave(f"{place} = {numbers[i]}, the space promises {first[i]} to {first[i] + count[i] - 1}")
        row.fill(0)
        row[offsets + places] = 1

    return put


def each_key(name, keys, sizes, writers, row):
    puts = list(zip(keys, one_after_another(sizes, writers, row)))
    known = dict.fromkeys(keys).keys()

    def put(observation):
        if not isinstance(observation, collections.abc.Mapping):
            raise gave(f"{name} that is no dictionary: {shown(observation)}")
        if observation.keys() != known:
            missing = [key for key in known if key not in observation]
            what, key = ("without", missing[0]) if missing else ("with", next(iter(observation.keys() - known)))
            raise gave(f"{name} {what} the key {shown(key)}, the space promises {shown(list(known), MOST_SHOWN)}")
        for key, put in puts:
            put(observation[key])

    return put


def each_place(name, keys, sizes, writers, row):
    import numpy as np

    puts = one_after_another(sizes, writers, row)

    def put(observation):
        if not isinstance(observation, (tuple, list, np.ndarray)):
            raise gave(f"{name} that is no tuple: {shown(observation)}")
        if len(observation) != len(puts):
            raise gave(f"{name} with {len(observation)} parts, the space promises {len(puts)}")
        for put, part in zip(puts, observation):
            put(part)

    return put


def one_after_another(sizes, writers, row):
    ends = list(itertools.accumulate(sizes))
    return [writer(row[end - size : end]) for size, end, writer in zip(sizes, ends, writers)]


def fitting(name, observation, shape, promised):
    """An observation that is not quite what the space promises, if no number of it changes by writing it."""
    import numpy as np

    try:
        array = np.asarray(observation)
    except ValueError:  # Rows of several lengths.
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise gave(f"{name} that is no array of numbers: {shown(observation)}")
    if array.shape != shape:
        raise gave(f"{name} of shape {array.shape}, the space promises {shape}")
    if promised.kind in "biu" and array.dtype is not promised:
        with np.errstate(invalid="ignore"):
            wrong = array[array.astype(promised) != array]
        if wrong.size:
            kind = "0 or 1" if promised.kind == "b" else promised
            raise gave(f"{name} with the number {wrong.flat[0]}, the space promises {kind}")
    return array


# --- Actions ---------------------------------------------------------------------------------------------------------


class Actions:
    """What environments are given for the program's actions, which are counted from 0.

    Where an action has several parts, there is one for each combination of their choices. The last part changes first.
    """

    def __init__(self, spaces, space):
        self.names = None
        if isinstance(space, spaces.Discrete):
            self.count, self.first = int(space.n), int(space.start)
            self.of = self.counted_on if self.first else self.as_they_are
            return
        ranges, self.build = choices(spaces, space, space)
        self.count = math.prod(map(len, ranges))
        if self.count > MOST_ACTIONS:
            many = f"{self.count:,}" if self.count < 10**15 else "more than 10^15"
            most = f"at most {MOST_ACTIONS:,} are supported"
            reason = f"these are {many} combinations, and {most}; leave some out with a wrapper"
            raise Refused("space", what="actions", space=shown(space, MOST_SHOWN), reason=reason)
        self.values = list(itertools.product(*ranges))
        self.names = [",".join(map(str, values)) for values in self.values]
        self.of = self.combined

    def as_they_are(self, actions):
        return actions

    def counted_on(self, actions):
        return actions + self.first

    def combined(self, actions):
        """Made anew each time: an environment may change what it is given."""
        return (self.build(iter(self.values[action])) for action in actions)


def choices(spaces, space, all_of_it):
    """The choices of each part of an action, and what builds the action from one of each in order."""
    import numpy as np

    if isinstance(space, spaces.Discrete):
        first, kind = int(space.start), space.dtype.type
        return [range(first, first + int(space.n))], lambda values: kind(next(values))
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        shape, kind = space.shape, space.dtype
        size = math.prod(shape)
        if isinstance(space, spaces.MultiBinary):
            ranges = [range(2)] * size
        else:
            firsts, counts = space.start.reshape(-1).tolist(), space.nvec.reshape(-1).tolist()
            ranges = [range(first, first + count) for first, count in zip(firsts, counts)]
        return ranges, lambda values: np.array(list(itertools.islice(values, size)), kind).reshape(shape)
    if isinstance(space, (spaces.Tuple, spaces.Dict)):
        is_dict = isinstance(space, spaces.Dict)
        parts = [choices(spaces, part, all_of_it) for part in (space.spaces.values() if is_dict else space.spaces)]
        builds, ranges = [build for _, build in parts], [each for ranges, _ in parts for each in ranges]
        if is_dict:
            keys = list(space.spaces)
            return ranges, lambda values: {key: build(values) for key, build in zip(keys, builds)}
        return ranges, lambda values: tuple([build(values) for build in builds])
    reason = "supported are Discrete, MultiDiscrete, MultiBinary, and Tuple and Dict of them; wrap the environment"
    if isinstance(space, spaces.Box):
        example = "such as DiscretizeAction(bins=5)"
        reason = f"continuous actions are not supported; make them discrete with a wrapper, {example}"
    raise Refused("space", what="actions", space=shown(all_of_it, MOST_SHOWN), reason=reason)
