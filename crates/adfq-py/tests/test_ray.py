"""Runs on a Ray of two nodes of this machine: what it trains has the bits of what is trained without, whatever dies meanwhile."""

import fcntl
import os
import pathlib
import runpy
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import SHORT, SHORT_WORDS, files, start
from test_docs import run_examples

import adfq

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")

from ray.cluster_utils import Cluster  # noqa: E402

from adfq.config import assignments  # noqa: E402
from adfq.ray import Result, _storage, _sweep, fetch, sweep  # noqa: E402
from adfq.ray.__main__ import main  # noqa: E402

ROOT = pathlib.Path(__file__).parents[3]
SMALL = {"object_store_memory": 80 * 2**20, "include_dashboard": False}

# Long enough to be killed in the middle. A checkpoint comes early, and no other until the end.
LONG = {**SHORT, "logging": {"metrics": 5_000, "checkpoint": 2_000}, "evaluation": {"every": 10_000, "episodes": 2, "final_episodes": 3}}
LONG_STEPS = 12_000


def started():
    """The driver's node. Ray gives it 30 seconds to start, which a busy machine may miss, so it is tried three times."""
    for left in (2, 1, 0):
        try:
            return Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 2, **SMALL})
        except Exception:
            if not left:
                raise


@pytest.fixture(scope="module")
def cluster():
    """A node for the driver, and one to be killed."""
    cluster = started()
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()


# A driver: the cluster's address, the storage and the number of seeds.
SWEEPS = f"""
import sys, adfq.ray
address, storage, seeds = sys.argv[1:]
adfq.ray.sweep("cartpole", "adfq-ts", range(int(seeds)), {LONG_STEPS}, storage=storage, address=address, **{LONG})
"""


def wait_for(condition, seconds=60):
    """Waits until something outside of this process has happened."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return found


def has_checkpoint(folder):
    return any(folder.glob("checkpoints/step-*.adfq"))


def assert_same(folder, other):
    """Two folders hold the same runs, which are named."""
    names = sorted(path.name for path in pathlib.Path(other).iterdir())
    assert sorted(path.name for path in pathlib.Path(folder).iterdir()) == names
    for name in names:
        assert files(pathlib.Path(folder) / name) == files(pathlib.Path(other) / name), name
    return names


def is_on(node, folder):
    """Whether the process that holds a run belongs to this node."""
    holder = (folder / ".lock").read_text().split("\n")[0]
    raylet = node.all_processes["raylet"][0].process.pid
    return holder != "" and f"PPid:\t{raylet}\n" in pathlib.Path(f"/proc/{holder}/status").read_text()


@pytest.fixture(scope="module")
def long_runs(tmp_path_factory):
    """Runs without Ray."""
    out = tmp_path_factory.mktemp("without-ray")
    adfq.train_many("cartpole", "adfq-ts", range(3), LONG_STEPS, out=out, **LONG)
    return out


# --- Sweeps ----------------------------------------------------------------------------------------------------------------


def test_a_sweep_has_the_bits_and_the_folders_of_train_many(cluster, tmp_path, program):
    many = dict(envs="cartpole", agents=["adfq-ts", "dqn"], seeds=range(2), steps=1000, **SHORT)
    results = sweep(storage=tmp_path / "ray", **many)
    models = adfq.train_many(out=tmp_path / "many", **many)
    assert len(assert_same(tmp_path / "ray", tmp_path / "many")) == 4
    assert [(result.summary, result.error) for result in results] == [(model.result, None) for model in models]
    assert [pathlib.Path(result.folder).name for result in results] == [model.folder.name for model in models]
    program("compare", tmp_path / "ray", "--out", tmp_path / "comparison")


def test_a_run_on_a_node_that_dies_goes_on_elsewhere_to_the_bit(cluster, tmp_path, long_runs):
    doomed = cluster.add_node(num_cpus=1, **SMALL)
    # This process is a driver on the other node.
    with ThreadPoolExecutor() as thread:
        swept = thread.submit(sweep, "cartpole", "adfq-ts", range(3), LONG_STEPS, storage=tmp_path, **LONG)
        folder = wait_for(lambda: next((run for run in tmp_path.iterdir() if has_checkpoint(run) and is_on(doomed, run)), None))
        cluster.remove_node(doomed, allow_graceful=False)
        assert not (folder / "result.json").exists()
        results = swept.result(timeout=120)
    assert [result.error for result in results] == [None] * 3
    assert_same(tmp_path, long_runs)


def test_a_driver_that_dies_is_started_again(cluster, tmp_path, long_runs):
    driver = start(SWEEPS, cluster.address, tmp_path, 3)
    wait_for(lambda: any(has_checkpoint(run) for run in tmp_path.iterdir()))
    driver.kill()
    driver.communicate()
    results = sweep("cartpole", "adfq-ts", range(3), LONG_STEPS, storage=tmp_path, **LONG)
    assert [result.error for result in results] == [None] * 3
    assert_same(tmp_path, long_runs)
    # Once more, and nothing is left to do.
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.adfq")}
    assert sweep("cartpole", "adfq-ts", range(3), LONG_STEPS, storage=tmp_path, **LONG) == results
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.adfq")}


def test_settings_make_a_grid(cluster, tmp_path):
    grid = [{"learning.batch": 16}, {"learning": {"batch": 32}}, ["learning.batch=64"]]
    results = sweep("cartpole", "dqn", steps=300, storage=tmp_path, settings=grid, set=["learning.warmup=100"])
    assert [adfq.load(result.folder).config["learning.batch"] for result in results] == [16, 32, 64]
    with pytest.raises(ValueError, match="share the folder"):
        sweep("cartpole", "dqn", steps=300, storage=tmp_path, settings=grid[:1] * 2)
    with pytest.raises(ValueError, match="lerning"):
        sweep("cartpole", "dqn", storage=tmp_path, settings={"lerning.batch": 16})


def test_a_run_that_fails_is_named_and_stops_no_other(cluster, tmp_path):
    other, *_ = adfq.train_many("cartpole", "dqn", [1], 200, out=tmp_path, **SHORT)
    with pytest.warns(UserWarning, match=f"1 of 2 runs failed:\n{other.folder}: FileExistsError"):
        first, second = sweep("cartpole", "dqn", range(2), 300, storage=tmp_path, **SHORT)
    assert first.error is None and first.summary["steps"] == 300
    assert second.folder == str(other.folder) and second.summary is None and "FileExistsError" in second.error


def placed_trial(**resources):
    """The device and the threads of a trial that has these resources."""
    from ray import tune

    from adfq.ray import Trainable

    class Placed(Trainable):
        trial_resources = tune.PlacementGroupFactory([resources])

    trial = Placed(config=TRIAL)
    trial.stop()
    return trial.model._device, trial.model._threads


def test_gpus_are_placed_by_their_share(cluster, tmp_path):
    task = ray.remote(lambda: os.environ.get("CUDA_VISIBLE_DEVICES"))
    shown = [task.options(**_sweep.options(0.1, gpus, 0)).remote() for gpus in (0.5, 1, 0)]
    half, whole, none = ray.get(shown)
    assert half in ("0", "1") and whole in ("0", "1") and not none
    assert [_sweep.device_for(gpus) for gpus in (0, 0.1, 1)] == ["cpu", "cuda", "cuda"]
    assert [_sweep.threads_for(cpus) for cpus in (0.5, 1, 4)] == [1, 1, 4]
    assert placed_trial(CPU=2, GPU=0.5) == ("cuda", 2) and placed_trial(CPU=1) == ("cpu", 1)
    with pytest.raises(ValueError, match="gpus must be from 0 to 1"):
        sweep("cartpole", storage=tmp_path, gpus=2)
    # There is no GPU here, which the task finds out.
    [result] = sweep("cartpole", "dqn", steps=300, storage=tmp_path, gpus=0.5)
    assert "cuda:0" in result.error


def test_a_folder_in_use_is_waited_for(tmp_path):
    model = adfq.DQN("cartpole", out=tmp_path / "run", **SHORT).learn(200)
    with (tmp_path / "run" / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="in use by another process"):
            model.learn(100)
    now, answers = [0.0], [BlockingIOError("in use"), BlockingIOError("in use"), None]

    def sleep(seconds):
        now[0] += seconds

    assert _sweep.patiently(lambda: answers.pop(0), lambda: now[0], sleep) is None and now == [2.0]
    error = _sweep.patiently(lambda: BlockingIOError("in use"), lambda: now[0], sleep)
    assert isinstance(error, BlockingIOError) and "waited for 300 s" in str(error)
    assert str(_sweep.patiently(lambda: OSError("full"), lambda: now[0], sleep)) == "full"


# --- Stores ----------------------------------------------------------------------------------------------------------------


def test_a_sweep_in_a_store_has_the_same_bits(cluster, tmp_path, long_runs):
    store, name = (tmp_path / "store").as_uri(), next(long_runs.glob("*-0")).name
    driver = start(SWEEPS, cluster.address, store, 1)
    wait_for(lambda: has_checkpoint(tmp_path / "store" / name))
    driver.kill()
    driver.communicate()
    assert not (tmp_path / "store" / name / "result.json").exists()
    for _ in range(2):
        [result] = sweep("cartpole", "adfq-ts", steps=LONG_STEPS, storage=store, **LONG)
        assert result == Result(f"{store}/{name}", adfq.load(long_runs / name).result, None)
    assert fetch(store, tmp_path / "here") == [tmp_path / "here" / name]
    assert files(tmp_path / "here" / name) == files(long_runs / name)
    assert not [path for path in (tmp_path / "store").rglob("*") if path.name == ".lock" or path.name.endswith("partial")]


class CutOff(Exception):
    """The store cannot be reached any more."""


class Wire(_storage.Store):
    """A store that is cut off after so many changes."""

    left = 0

    def put(self, name, source):
        self.change(super().put, name, source)

    def delete(self, name):
        self.change(super().delete, name)

    def change(self, call, *words):
        if self.left == 0:
            raise CutOff
        self.left -= 1
        call(*words)


def test_a_store_that_is_cut_off_anywhere_holds_a_run_that_goes_on(tmp_path):
    whole = adfq.DQN("cartpole", **SHORT).learn(1200).result
    model = adfq.DQN("cartpole", out=tmp_path / "run", **SHORT)
    model.learn(1200, on_step=lambda model, step: False, step_every=500).save(tmp_path / "first")
    model.learn(None, on_step=lambda model, step: False, step_every=500).save(tmp_path / "second")
    complete = count = 0
    while not complete:
        # The second part is copied over the first, up to a change that does not arrive.
        wire = Wire((tmp_path / f"store-{count}").as_uri())
        wire.left = 100
        copy = _storage.Copy(wire, tmp_path / "first")
        copy.upload()
        copy.folder, wire.left = tmp_path / "second", count
        try:
            copy.upload()
            complete = True
        except CutOff:
            count += 1
        fetched = _storage.Copy(wire, tmp_path / f"fetched-{count}-{complete}")
        fetched.download()
        found = adfq.load(fetched.folder)
        assert found.steps == 1000 if complete else found.steps in (500, 1000)
        assert found.learn().result == whole
    assert count > 5


# --- Ray Tune --------------------------------------------------------------------------------------------------------------

TRIAL = {"env": "cartpole", "agent": "dqn", "seed": 3, "steps": 1500, **SHORT}


def test_a_trial_goes_on_to_the_bit(tmp_path):
    from adfq.ray import Trainable

    whole = adfq.DQN("cartpole", seed=3, out=tmp_path / "whole", **SHORT).learn(1500)
    trial = Trainable(config=TRIAL)
    first = trial.train()
    assert (first["steps"], first["done"], first["training_iteration"]) == (500, False, 1)
    checkpoint = trial.save(str(tmp_path / "checkpoint"))
    trial.stop()
    again = Trainable(config=TRIAL)
    again.restore(checkpoint)
    second, third = again.train(), again.train()
    assert [(result["steps"], result["done"]) for result in (second, third)] == [(1000, False), (1500, True)]
    assert third["mean_return"] == whole.result["mean_return"] and third["training_iteration"] == 3
    again.save(str(tmp_path / "end"))
    assert files(tmp_path / "end") == files(tmp_path / "whole")
    place = again.model.folder
    assert again.reset({**TRIAL, "learning.batch": 16}) and not place.exists()
    with pytest.raises(ValueError, match="one configuration"):
        again.restore(checkpoint)
    again.stop()


def test_a_trial_without_an_environment_is_refused():
    from adfq.ray import Trainable

    with pytest.raises(ValueError, match="needs an environment"):
        Trainable(config={"agent": "dqn"})


def test_a_trial_whose_process_dies_goes_on_to_the_bit(cluster, tmp_path):
    from ray import tune

    from adfq.ray import Trainable

    class Mortal(Trainable):
        """Dies once, after an iteration."""

        def step(self):
            if self.iteration == 1 and not (tmp_path / "dead").exists():
                (tmp_path / "dead").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().step()

    storage = tune.RunConfig(
        storage_path=str(tmp_path / "tune"),
        failure_config=tune.FailureConfig(max_failures=1),
        checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=1),
        verbose=0,
    )
    [result] = tune.Tuner(Mortal, param_space=TRIAL, run_config=storage).fit()
    assert (tmp_path / "dead").exists() and result.error is None and result.metrics["steps"] == 1500
    adfq.DQN("cartpole", seed=3, out=tmp_path / "whole", **SHORT).learn(1500)
    assert files(result.checkpoint.path) == files(tmp_path / "whole")


def test_the_documentation_runs(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples("docs/ray.md")


def test_optuna_looks_for_settings(cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ray_optuna.py", "2", "1200"])
    names = runpy.run_path(str(ROOT / "examples" / "ray_optuna.py"))
    assert names["model"].steps == 1200 and "best:" in capsys.readouterr().out


# --- The shell and imports -------------------------------------------------------------------------------------------------


def test_the_shell_sweeps_and_fetches(cluster, tmp_path, capsys):
    words = [word for setting in SHORT_WORDS for word in ("--set", setting)]
    store = (tmp_path / "store").as_uri()
    line = ["sweep", "cartpole", "--agents", "dqn", "--seeds", "0..1", "--steps", "3e2", "--storage", store, *words]
    assert main([*line, "--grid", "learning.batch=16,32"]) == 0
    said = capsys.readouterr().out
    assert "4 of 4 runs are complete" in said and said.count("±") == 4
    assert main(["fetch", store, str(tmp_path / "here")]) == 0
    assert len(list((tmp_path / "here").iterdir())) == 4
    (tmp_path / "store" / sorted(os.listdir(tmp_path / "store"))[0] / "config.toml").write_text("nonsense")
    assert main([*line, "--grid", "learning.batch=16,32"]) == 1
    assert "3 of 4 runs are complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, status, says",
    [
        (["sweep", "cartpole"], 2, "--storage"),
        (["sweep", "cartpole", "--storage", "x", "--seeds", "3..1"], 2, "comes after the last"),
        (["sweep", "cartpole", "--storage", "x", "--seeds", "a"], 2, "are no seeds"),
        (["sweep", "cartpole", "--storage", "x", "--steps", "1.5"], 2, "no number of steps"),
        (["sweep", "cartpole", "--storage", "x", "--grid", "learning.batch"], 2, "names no values"),
        (["sweep", "cartpool", "--storage", "x"], 1, "cartpool"),
        (["sweep", "cartpole", "--storage", "x", "--gpus", "3"], 1, "gpus must be"),
        (["sweep", "cartpole", "--storage", "nonsense://runs"], 1, "nonsense"),
        (["fetch", "file:///nothing/here", "x"], 1, "holds no runs"),
    ],
)
def test_the_shell_says_what_is_wrong(words, status, says, capsys):
    try:
        found = main(words)
    except SystemExit as left:
        found = left.code
    assert found == status and says in capsys.readouterr().err


def test_ctrl_c_saves_the_runs(cluster, tmp_path, long_runs):
    words = ["cartpole", "--agents", "adfq-ts", "--seeds", "0", "--steps", LONG_STEPS, "--storage", tmp_path]
    settings = [word for setting in assignments(LONG, {}) for word in ("--set", setting)]
    command = [sys.executable, "-m", "adfq.ray", "sweep", *map(str, words), "--address", cluster.address, *settings]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any(has_checkpoint(run) for run in tmp_path.iterdir()))
    driver.send_signal(signal.SIGINT)
    said, errors = driver.communicate(timeout=60)
    assert driver.returncode == 130 and "goes on with what is missing" in errors, errors
    [folder] = tmp_path.iterdir()
    assert (folder / ".lock").read_text() == "" and not (folder / "result.json").exists()
    [result] = sweep("cartpole", "adfq-ts", steps=LONG_STEPS, storage=tmp_path, **LONG)
    assert files(folder) == files(long_runs / folder.name)


def test_ray_is_imported_when_it_is_asked_for():
    code = "import adfq, sys; assert 'ray' not in sys.modules; sys.modules['ray'] = None\nimport adfq.ray"
    driver = start(code)
    said, errors = driver.communicate(timeout=60)
    assert driver.returncode == 1 and "ImportError: adfq.ray needs Ray: pip install 'adfq[ray]'" in errors
    subprocess.run([sys.executable, "-c", "import adfq.ray, sys; assert 'ray.tune' not in sys.modules"], check=True, timeout=60)
