"""Train an agent, ask what it believes, save it, and go on. It takes about ten seconds.

    python3 examples/quickstart.py             # 50,000 steps, as the settings for CartPole say
    python3 examples/quickstart.py 2000        # shorter
"""

import pathlib
import sys
import tempfile

import adfq

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000

model = adfq.ADFQ("cartpole", seed=0)
model.learn(steps, progress_bar=True)
print(model.evaluate(20))

# A pole that leans to the right: the cart should follow it.
action, belief = model.predict([0.0, 0.0, 0.05, 0.0])
for i, name in enumerate(["left", "right"]):
    print(f"{name}: {belief.mean[i]:.2f} ± {belief.sd[i]:.2f}, the best with probability {belief.p_best[i]:.3f}")
print("action:", ["left", "right"][action])

with tempfile.TemporaryDirectory() as folder:
    path = model.save(pathlib.Path(folder) / "cartpole.adfq")
    again = adfq.load(path)
    again.learn(steps // 10)
    print(again, "– it went on where it stopped")
