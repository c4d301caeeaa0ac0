"""Look for settings with Optuna, on all cores of this machine or on a Ray cluster.

    pip install 'adfq[ray]' optuna
    python3 examples/ray_optuna.py                # 20 trials of 20,000 steps
    python3 examples/ray_optuna.py 4 2000         # fewer and shorter
"""

import os
import sys

import ray
from ray import tune
from ray.tune.schedulers import ASHAScheduler
from ray.tune.search.optuna import OptunaSearch

import adfq
from adfq.ray import Trainable

trials, steps = (int(word) for word in (sys.argv[1:] + ["20", "20000"][len(sys.argv) - 1 :]))

if not ray.is_initialized():
    ray.init()  # The cluster that this machine belongs to, or else a new one on it.

tuner = tune.Tuner(
    Trainable,
    param_space={
        "env": "cartpole",
        "agent": "adfq",
        "steps": steps,
        "evaluation.every": steps // 4,
        "learning.adam.rate": tune.loguniform(1e-4, 1e-2),
        "learning.batch": tune.choice([32, 64, 128]),
    },
    tune_config=tune.TuneConfig(
        metric="mean_return",
        mode="max",
        num_samples=trials,
        reuse_actors=True,  # A trial takes over the process of the one before it.
        search_alg=OptunaSearch(seed=0),
        # Trials that do badly at a quarter or at half of the way are stopped there.
        scheduler=ASHAScheduler(time_attr="steps", max_t=steps, grace_period=steps // 4, reduction_factor=2),
    ),
    run_config=tune.RunConfig(
        name="adfq-optuna",
        storage_path=os.path.abspath("ray-results"),  # All nodes of a cluster must see it; s3://… works too.
        failure_config=tune.FailureConfig(max_failures=3),  # A trial whose node dies goes on from its last checkpoint.
        checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=1, num_to_keep=1),
    ),
)
best = tuner.fit().get_best_result()
print("best:", {name: best.config[name] for name in ("learning.adam.rate", "learning.batch")}, best.metrics["mean_return"])

# A checkpoint is a run folder.
model = adfq.load(best.checkpoint.path)
print(model, model.evaluate(20))
