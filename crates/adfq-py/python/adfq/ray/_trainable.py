"""A run as a trial of Ray Tune."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
from typing import Any

from ray import tune

from .. import _adfq
from ..belief import Evaluation
from ..config import Config
from ..model import Model, is_run, load
from ._sweep import device_for, threads_for


class Trainable(tune.Trainable):
    """A run as a trial: `tune.Tuner(Trainable, param_space={"env": "cartpole", "learning.adam.rate": tune.loguniform(1e-4, 1e-2)})`.

    The parameters are `env`, `agent`, `seed`, `steps`, and all else that `adfq.Model` takes, settings by their names in
    `config.toml` among them.

    Each iteration learns until the next evaluation and reports its `mean_return` and `standard_error`, and the `steps` of the run.
    A trial is done when its run is complete. Its checkpoints are run folders: `adfq.load(result.checkpoint.path)`. A trial that is
    restored goes on to the bit. It has one configuration from its beginning to its end, so population based training, which
    changes settings in the middle, is refused.
    """

    def setup(self, config: dict[str, Any]) -> None:
        words = dict(config)
        if "env" not in words:
            raise ValueError("a trial needs an environment: param_space={\"env\": …}")
        resources = self.trial_resources.required_resources if self.trial_resources else {}
        self._place = tempfile.mkdtemp(prefix="adfq-")
        self._steps: int | None = words.pop("steps", None)
        self.model = Model(
            words.pop("env"),
            words.pop("agent", None),
            out=os.path.join(self._place, "run"),
            device=device_for(resources.get("GPU", 0)),
            threads=threads_for(resources.get("CPU", 1)),
            **words,
        )
        self._config = self.model._planned(self._steps)

    def step(self) -> dict[str, Any]:
        evaluations: list[Evaluation] = []

        def watch(model: Model, evaluation: Evaluation) -> bool:
            """Stops, except at the end, where there is nothing left to stop."""
            evaluations.append(evaluation)
            return bool(evaluation.step >= model.config["steps"])

        steps = None if is_run(self.model.folder) else self._steps
        self.model.learn(steps, progress_bar=False, on_evaluation=watch)
        result = self.model.result
        report: dict[str, Any] = {"steps": self.model.steps, "done": result is not None}
        if evaluations:
            report |= {"mean_return": evaluations[-1].mean, "standard_error": evaluations[-1].standard_error}
        elif result is not None:
            report |= {name: result[name] for name in ("mean_return", "standard_error") if result[name] is not None}
        return report

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        if is_run(self.model.folder):
            os.rmdir(checkpoint_dir)  # It is there and empty. The run takes its place.
            self.model.save(checkpoint_dir)

    def load_checkpoint(self, checkpoint: Any) -> None:
        if not is_run(pathlib.Path(checkpoint)):
            return  # It had not begun.
        if Config(_adfq.Config.of_folder(checkpoint)) != self._config:
            raise ValueError(
                "the checkpoint is of a run with other settings: a run has one configuration from its beginning to its end. "
                "Schedulers that change settings in the middle, as population based training does, cannot be used"
            )
        folder, model = self.model.folder, self.model
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(checkpoint, folder)
        self.model = load(folder, device=model._device, threads=model._threads, trust=True)

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self.cleanup()
        self.setup(new_config)
        return True

    def cleanup(self) -> None:
        shutil.rmtree(self._place, ignore_errors=True)
