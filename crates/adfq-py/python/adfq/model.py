"""Models: agents that learn, act, and say what they believe. Each is a run folder."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import shutil
import tempfile
import warnings
import weakref
from typing import Any, Callable, ClassVar, Sequence

import numpy as np
import numpy.typing as npt

from . import _adfq
from ._adfq import AdfqError
from ._environments import View, environment, host
from ._html import model_html
from ._learning import follow
from ._progress import Progress
from .belief import Belief, Evaluation
from .config import Config, assignments

Array = npt.NDArray[np.float64]

# What belongs to the process that trains, and not to the run.
NOT_COPIED = shutil.ignore_patterns("*.lock", "*.adfq-partial")


class Model:
    """An agent in an environment.

    `env` is a native name (`"cartpole"`, `"minatar/breakout"`), a Gymnasium id, a `gymnasium.Env`, a list of functions that make
    one, or a `gymnasium.vector.VectorEnv`. `agent` is a name of `adfq.Model.agents()`, also with a policy, as `"adfq-eps"`; by
    default Calibrated, or ADFQ where the preset is that of the paper.

    `out` is the run folder. It must hold nothing yet, and it stays. Without it the folder is a temporary one, which goes with the
    model. `device` is where the network learns: `"cpu"`, `"cuda"` or `"cuda:1"`. `eval_env` is what is evaluated in, if the
    environment is an object that cannot be made twice. `trust` says whether the names of environments and wrappers may import
    modules that are no installed packages.

    All other keywords are settings, with the names of `config.toml`: `learning={"batch": 64}`, `**{"learning.batch": 64}` or
    `set=["learning.batch=64"]`.

    >>> model = Model("cartpole", "dqn", seed=1, learning={"batch": 16, "warmup": 100})
    >>> model.config["learning.batch"]
    16
    >>> Model("cartpole", lerning={"batch": 16})
    Traceback (most recent call last):
        ...
    ValueError: the configuration cannot be read: there is no setting `lerning`
    """

    _agent_name: ClassVar[str | None] = None

    def __init__(
        self,
        env: Any,
        agent: str | None = None,
        *,
        seed: int = 0,
        policy: str | None = None,
        preset: str | None = None,
        config: Config | None = None,
        out: str | os.PathLike[str] | None = None,
        device: str = "cpu",
        threads: int | None = None,
        eval_env: Any = None,
        trust: bool = True,
        set: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        if "steps" in settings:
            raise TypeError("the number of steps is an argument of learn")
        if agent is not None and self._agent_name is not None:
            raise TypeError(f"{type(self).__name__} is the agent {self._agent_name}: use adfq.Model for {agent!r}")
        if not 0 <= seed < 2**64:
            raise ValueError(f"the seed must be from 0 to 2**64 - 1, and not {seed}")
        self._environment = environment(env, eval_env, trust)
        self._host = host(self._environment, trust)
        self._device, self._threads = device, threads
        self._plan: dict[str, Any] = {
            "agents": [agent or self._agent_name] if agent or self._agent_name else [],
            "policy": policy,
            "seeds": [seed] if config is None or seed else [],
            "preset": preset,
            "config": config._own if config is not None else None,
            "settings": [],
        }
        self._plan["settings"] = self._assignments(settings) + list(set)
        self._config = self._planned(None)
        self._begin(out)

    def _begin(self, out: str | os.PathLike[str] | None) -> None:
        self._cache: _adfq.Agent | None = None
        self._views: dict[str, View | None] = {}
        self._learning = False
        self._steps = 0
        self._rng = np.random.default_rng(self._config["seed"])
        if out is not None:
            self._folder = pathlib.Path(out)
            self._check_free()
        else:
            place = tempfile.mkdtemp(prefix="adfq-")
            self._folder = pathlib.Path(place) / "run"
            self._remove = weakref.finalize(self, remove, place, os.getpid())

    def _check_free(self) -> None:
        if is_run(self._folder):
            raise FileExistsError(f"{self._folder} holds a run already; load it, or choose another folder")

    def _assignments(self, settings: dict[str, Any]) -> list[str]:
        """The settings of the user, and over them those that follow from the environment."""
        own = self._environment.settings
        if not own and not any(isinstance(value, dict) for value in settings.values()):
            return assignments(settings, {})
        base = self._planned(None).to_dict()
        return assignments(settings, base) + assignments(own, base)

    def _planned(self, steps: int | None) -> Config:
        return Config(_adfq.plan(self._host, [self._environment.name], steps=steps, **self._plan)[0])

    @staticmethod
    def agents() -> dict[str, str]:
        """The agents by name, with a line for each.

        >>> sorted(Model.agents())
        ['adfq', 'bootstrapped', 'calibrated', 'ddqn', 'dqn', 'split']
        """
        return dict(_adfq.agents())

    # --- Where it stands -----------------------------------------------------------------------------------------------

    @property
    def config(self) -> Config:
        """All that decides the run."""
        return self._config

    @property
    def folder(self) -> pathlib.Path:
        """The run folder. It is there once the model has learned."""
        return self._folder

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return self._steps

    @property
    def result(self) -> dict[str, Any] | None:
        """What the run reached, as in `result.json`; None if it has not come to its end."""
        try:
            result: dict[str, Any] = json.loads((self._folder / "result.json").read_bytes())
        except FileNotFoundError:
            return None
        return result

    def __repr__(self) -> str:
        env, seed = self._config["env"], self._config["seed"]
        name = type(self).__name__
        agent = "" if type(self)._agent_name else f", {self._config['agent']!r}"
        return f"{name}({env!r}{agent}, seed={seed}): {self._steps:,} steps"

    def _repr_html_(self) -> str:
        return model_html(self)

    # --- Learning ------------------------------------------------------------------------------------------------------

    def learn(
        self,
        steps: int | None = None,
        *,
        progress_bar: bool | None = None,
        on_step: Callable[[Model, int], object] | None = None,
        on_evaluation: Callable[[Model, Evaluation], object] | None = None,
        on_checkpoint: Callable[[Model, int], object] | None = None,
        step_every: int = 1000,
    ) -> Model:
        """Learns for so many environment steps, beyond those it has. Without a number, to the end of the run: that of the
        preset for a new one, that it was to have for one that was stopped.

        Going on is exact: the first call makes a run of so many steps, and each later call makes it longer, as
        `adfq train --resume RUN --steps N` does, with the same bits.

        Callbacks are called on this thread while training waits: `on_step(model, step)` whenever `step_every` steps have
        passed, `on_evaluation(model, evaluation)` after each evaluation, `on_checkpoint(model, step)` when a checkpoint is taken.
        One that returns False stops training, and an exception stops it too and is raised. Either way what was learned is saved.
        So does Ctrl-C, which raises KeyboardInterrupt. `progress_bar` is drawn in terminals and notebooks by default.

        >>> model = Model("cartpole", seed=3)
        >>> model.learn(300, on_step=lambda model, step: step < 200, step_every=100).steps
        200
        >>> model.learn(100).steps
        300
        """
        if self._learning:
            raise AdfqError("this model is learning already: wait until it is done")
        config, longer, stop_after, total = self._goal(steps)
        calls = {"step": on_step, "evaluation": on_evaluation, "checkpoint": on_checkpoint}
        training = _adfq.Training(
            self._host,
            [(os.fspath(self._folder), config._own if config else None, longer)],
            device=self._device,
            at_once=None,
            threads=self._threads,
            stop_after=stop_after,
            every=step_every if on_step else 0,
            evaluations=on_evaluation is not None,
            checkpoints=on_checkpoint is not None,
        )

        def tell(_: int, step: int, what: str, details: dict[str, Any]) -> object:
            self._steps, self._cache = step, None
            call: Any = calls[what]
            if what != "evaluation":
                return call(self, step)
            returns, lengths = np.array(details["returns"]), np.array(details["lengths"], np.int64)
            return call(self, Evaluation(step, returns, lengths))

        self._learning = True
        try:
            with Progress(progress_bar, self._steps, total, str(self._environment.name)) as progress:
                [(_, _, error)] = follow(training, progress, tell)
            if error is not None:
                raise error
        finally:
            self._learning = False
            self._look()
        return self

    def _goal(self, steps: int | None) -> tuple[Config | None, int | None, int | None, int]:
        """The configuration of a new run, the steps to make an old one longer to, the step to stop at, and where that ends."""
        if steps is not None and not 1 <= steps < 2**63:
            raise ValueError(f"the number of steps must be at least 1 and below 2**63, and not {steps}")
        if not is_run(self._folder):
            if not self._plan:
                raise FileNotFoundError(f"the run folder {self._folder} is gone")
            self._config = self._planned(steps)
            return self._config, None, None, self._config["steps"]
        end: int = self._config["steps"]
        goal = end if steps is None else self._steps + steps
        if goal > end:
            return None, goal, None, goal
        return None, None, goal if goal < end else None, goal

    def _look(self) -> None:
        """Reads where the folder stands."""
        self._cache = None
        if is_run(self._folder):
            self._config = Config(_adfq.Config.of_folder(os.fspath(self._folder)))
            self._steps = self._agent().step if any((self._folder / "checkpoints").glob("step-*.adfq")) else 0

    # --- Acting --------------------------------------------------------------------------------------------------------

    def _agent(self, checkpoint: str = "last") -> _adfq.Agent:
        if checkpoint != "last":
            return _adfq.Agent.load(os.fspath(self._folder), checkpoint, self._host)
        if self._cache is None:
            has_learned = is_run(self._folder) and any((self._folder / "checkpoints").glob("step-*.adfq"))
            if has_learned:
                self._cache = _adfq.Agent.load(os.fspath(self._folder), "last", self._host)
                for warning in self._cache.warnings:
                    warnings.warn(warning, stacklevel=4)
            else:
                self._cache = _adfq.Agent.untrained(self._config._own, self._host)
        return self._cache

    def _view(self) -> View | None:
        if "view" not in self._views:
            own = self._config.to_dict()
            self._views["view"] = self._environment.view(own.get("env_args", {}), own.get("wrappers", []))
        return self._views["view"]

    def predict(
        self, observation: Any, deterministic: bool = True
    ) -> tuple[int | npt.NDArray[np.int64], Belief]:
        """The action for an observation as the environment gives it, and what is believed of each action. For a batch of
        observations both have one row more for each.

        The action is the one with the largest mean. With `deterministic=False` it is drawn: by Thompson sampling from the beliefs, or
        by ε-greedy with the last ε where the agent has none.

        >>> action, belief = Model("cartpole").predict([0.0, 0.0, 0.05, 0.0])
        >>> int(belief.mean.argmax()) == action, round(float(belief.p_best.sum()), 6)
        (True, 1.0)
        """
        rows, single = self._rows(observation)
        belief, actions = self._beliefs(rows)
        if not deterministic:
            actions = self._drawn(belief)
        return (int(actions[0]), belief[0]) if single else (actions, belief)

    def beliefs(self, observations: Any) -> Belief:
        """What is believed of each action, for a batch of observations: arrays with a row for each.

        >>> Model("cartpole").beliefs([[0.0, 0.0, 0.05, 0.0]] * 3).sd.shape
        (3, 2)
        """
        rows, single = self._rows(observations, batch=True)
        return self._beliefs(rows)[0]

    def _beliefs(self, rows: npt.NDArray[np.float32]) -> tuple[Belief, npt.NDArray[np.int64]]:
        mean, sd, p_best, actions = self._agent().beliefs(rows)
        return Belief(mean, sd, p_best), actions

    def _drawn(self, belief: Belief) -> npt.NDArray[np.int64]:
        if not np.isnan(belief.sd).any():
            drawn: npt.NDArray[np.int64] = self._rng.normal(belief.mean, belief.sd).argmax(-1)
            return drawn
        rows, actions = belief.mean.shape
        explores = self._rng.random(rows) < self._config["exploration.to"]
        return np.where(explores, self._rng.integers(actions, size=rows), belief.mean.argmax(-1))

    def _rows(self, observation: Any, batch: bool = False) -> tuple[npt.NDArray[np.float32], bool]:
        """Observations as rows of numbers, and whether it was one alone."""
        view, agent = self._view(), self._agent()
        shape = tuple(agent.shape) if view is None else view.space.shape
        if shape is None:  # A dictionary or a tuple.
            observations, single = (observation, False) if batch else ([observation], True)
        else:
            array = observation if isinstance(observation, np.ndarray) else np.asarray(observation)
            if array.dtype.kind not in "biuf":
                raise ValueError(f"an observation is an array of numbers, and not {observation!r}")
            if array.shape != shape and array.shape[1:] != shape or batch and array.shape == shape:
                what = f"observations have the shape (n, {', '.join(map(str, shape))})" if batch else f"an observation has the shape {shape}"
                raise ValueError(f"{what}, and this one has {array.shape}: is it one of {self._config['env']}?")
            single = array.shape == shape and not batch
            observations = array[None] if single else array
        if view is not None:
            observations = [view.row(each) for each in observations]
        size = int(np.prod(agent.shape))
        return np.ascontiguousarray(observations, np.float32).reshape(len(observations), size), single

    def evaluate(self, episodes: int = 100, *, seed: int = 0, checkpoint: str | int = "last") -> Evaluation:
        """Greedy episodes; those of `adfq eval RUN --episodes N --seed SEED`. `checkpoint` is `"last"`, `"best"` or a step.

        >>> Model("cartpole").evaluate(3).lengths.shape
        (3,)
        """
        if episodes < 1:
            raise ValueError(f"the number of episodes must be at least 1, and not {episodes}")
        agent = self._agent(str(checkpoint))
        played = agent.play(self._host, self._config._own, episodes, seed)
        returns, lengths = zip(*played)
        return Evaluation(agent.step, np.array(returns), np.array(lengths, np.int64))

    # --- What was measured ---------------------------------------------------------------------------------------------

    def metrics(self) -> dict[str, Array]:
        """What was measured while learning, a column of `metrics.csv` each. What was not there yet is NaN.

        >>> model = Model("cartpole", logging={"metrics": 100}).learn(200)
        >>> model.metrics()["step"]
        array([100., 200.])
        """
        return columns(self._folder / "metrics.csv")

    def evaluations(self) -> dict[str, Array]:
        """Every evaluation episode, a column of `evaluations.csv` each."""
        return columns(self._folder / "evaluations.csv")

    def to_frame(self) -> Any:
        """The metrics as a `pandas.DataFrame`, by step."""
        import pandas

        return pandas.DataFrame(self.metrics()).set_index("step")

    # --- Files ---------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Copies the run folder. An adfq run that is there is replaced; anything else is not.

        `adfq.load` opens it, and so do `adfq eval`, `adfq train --resume` and `adfq compare`.
        """
        target = pathlib.Path(path)
        if self._learning:
            raise AdfqError(f"this model is learning: save it afterwards, or copy its checkpoints from {self._folder}")
        if not is_run(self._folder):
            raise AdfqError("this model has learned nothing yet: call learn first")
        if target.exists() and target.resolve() == self._folder.resolve():
            return target
        if target.exists() and not is_run(target):
            raise FileExistsError(f"{target} is there already and is no run of adfq; choose another name")
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = pathlib.Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            shutil.copytree(self._folder, aside / "new", ignore=NOT_COPIED)
            if target.exists():
                target.rename(aside / "old")
            (aside / "new").rename(target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        return target

    def export(self, file: str | os.PathLike[str]) -> None:
        """Writes the network for other programs: a file that ends in `.onnx`, with beliefs as outputs, or in `.safetensors`."""
        self._agent().export(os.fspath(file))

    def state_dict(self) -> dict[str, npt.NDArray[np.float32]]:
        """The tensors of the network by name.

        >>> {name: tensor.shape for name, tensor in Model("cartpole", "dqn").state_dict().items()}["head.weight"][1]
        2
        """
        data = self._agent().safetensors()
        length = int.from_bytes(data[:8], "little")
        header, numbers = json.loads(data[8 : 8 + length]), data[8 + length :]
        tensors = {}
        for name, entry in header.items():
            if name != "__metadata__":
                first, last = entry["data_offsets"]
                tensors[name] = np.frombuffer(numbers[first:last], "<f4").reshape(entry["shape"]).copy()
        return tensors


class ADFQ(Model):
    """Deep ADFQ, with Thompson sampling by default."""

    _agent_name = "adfq"


class DQN(Model):
    """DQN, which has no beliefs."""

    _agent_name = "dqn"


class DoubleDQN(Model):
    """Double DQN, which has no beliefs."""

    _agent_name = "ddqn"


class Split(Model):
    """Deep Split ADFQ, whose beliefs are meant to be calibrated."""

    _agent_name = "split"


class Calibrated(Model):
    """Double DQN with beliefs that are held against its own returns."""

    _agent_name = "calibrated"


class Bootstrapped(Model):
    """Bootstrapped DQN: an ensemble of values."""

    _agent_name = "bootstrapped"


CLASSES: dict[str, type[Model]] = {
    kind._agent_name: kind for kind in (ADFQ, DQN, DoubleDQN, Split, Bootstrapped, Calibrated) if kind._agent_name
}


def load(
    path: str | os.PathLike[str],
    env: Any = None,
    *,
    eval_env: Any = None,
    device: str = "cpu",
    threads: int | None = None,
    trust: bool = False,
) -> Model:
    """Opens a run folder, one that `Model.save` or the program wrote. Learning goes on in it.

    `env` is needed where the environment was an object that has no name. A folder may come from a stranger: only with `trust` may
    the name of its environment import a module that is no installed package.
    """
    folder = pathlib.Path(path)
    config = Config(_adfq.Config.of_folder(os.fspath(folder)))
    found = environment(config["env"] if env is None else env, eval_env, trust)
    model = CLASSES.get(config["agent"], Model).__new__(CLASSES.get(config["agent"], Model))
    if env is not None:
        found = found.renamed(config["env"])
    model._environment, model._host = found, host(found, trust)
    model._device, model._threads, model._plan = device, threads, {}
    model._config, model._cache, model._views = config, None, {}
    model._learning, model._folder, model._steps = False, folder, 0
    model._rng = np.random.default_rng(config["seed"])
    if found.make is None and config["env"].startswith("python:"):
        raise ValueError(f"{folder} was trained in an object, {config['env'][7:]}: give such an environment as env")
    model._look()
    return model


def remove(folder: str, process: int) -> None:
    """Removes the folder of a model that is gone. A child that was forked leaves its parent's alone."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def is_run(folder: pathlib.Path) -> bool:
    return (folder / "config.toml").is_file()


def columns(file: pathlib.Path) -> dict[str, Array]:
    """The columns of a CSV file of numbers. What is empty is NaN."""
    try:
        with file.open(newline="") as lines:
            header, *rows = csv.reader(lines)
    except (FileNotFoundError, ValueError):
        return {}
    return {name: np.array([float(row[i] or "nan") for row in rows]) for i, name in enumerate(header)}
