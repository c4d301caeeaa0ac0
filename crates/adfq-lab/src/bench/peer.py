"""Steps environments from Python, as many times as each line on stdin says: what the bridge is compared with."""

import sys

# The current folder is first, where a file of any name would be taken for the package of that name.
if sys.path and sys.path[0] == "":
    del sys.path[0]

import json

import gymnasium
import numpy as np


def main():
    kind, name, args, count, path = sys.argv[1:]
    sys.path.insert(0, path)
    args, count = json.loads(args), int(count)
    if kind == "ale-py":
        from ale_py.vector_env import AtariVectorEnv

        args.pop("emulator", None)  # A word of ours.
        envs = AtariVectorEnv(name, count, **args)
    else:
        envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(name, **args)] * count)
    envs.reset(seed=0)
    actions = np.zeros(count, np.int64)
    for line in sys.stdin:
        for _ in range(int(line)):
            envs.step(actions)
        print(flush=True)


main()
