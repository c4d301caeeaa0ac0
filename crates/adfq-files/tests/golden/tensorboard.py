"""Writes the event file that the test `tensorboard` compares with, and shows what TensorBoard reads in a folder.

    python3 -m venv venv && venv/bin/pip install tensorboard==2.21.0
    venv/bin/python tensorboard.py write golden.tfevents     # with TensorBoard's own writer
    venv/bin/python tensorboard.py read FOLDER               # tags, steps and values of any folder of event files
    venv/bin/python tensorboard.py settings FOLDER           # what the tab HPARAMS shows of a folder of runs
"""

import json
import os
import sys
import tempfile
from unittest import mock

# This file bears the name of the package, which must not be looked for beside it.
sys.path.pop(0)

from google.protobuf.struct_pb2 import Value
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.plugins.scalar.metadata import create_summary_metadata
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util import tensor_util

START = 1.7e9


def scalars(**values):
    metadata = create_summary_metadata(display_name=None, description=None)
    value = summary_pb2.Summary.Value
    return summary_pb2.Summary(
        value=[value(tag=t.replace("__", "/"), simple_value=v, metadata=metadata) for t, v in values.items()]
    )


def hparams(tag, **content):
    data = metadata.create_summary_metadata(plugin_data_pb2.HParamsPluginData(**content))
    value = summary_pb2.Summary.Value(tag=tag, metadata=data, tensor=metadata.NULL_TENSOR)
    return summary_pb2.Summary(value=[value])


def events():
    """The test in Rust writes the same."""
    yield START, 0, text_pb("config", 'agent = "adfq"\nσ₀ = 1\n')
    yield START, 0, scalars(train__return=0.0, train__loss=1.5)
    yield START + 0.25, 1, scalars(train__return=-21.125, train__loss=0.1)
    yield START + 1e-6, 127, scalars(train__return=3.4e38, train__loss=1e-45)
    yield START + 3, 128, scalars(train__return=float("inf"), train__loss=float("-inf"))
    yield START + 4, 5_000_000_000, scalars(train__return=1 / 3)
    yield START + 5, 300, histogram_pb("sigma", [i * i % 101 * 0.25 for i in range(200)])
    yield START + 6, 301, histogram_pb("sigma", [2.5, 2.5, 2.5])
    yield START + 7, 302, histogram_pb("sigma", [])
    # One setting each: the order of several is left to Protocol Buffers.
    for name, setting in [
        ("learning.rate", Value(number_value=0.0)),
        ("agent", Value(string_value="adfq")),
        ("dueling", Value(bool_value=False)),
    ]:
        start = plugin_data_pb2.SessionStartInfo(hparams={name: setting}, start_time_secs=START + 8)
        yield START + 8, 0, hparams(metadata.SESSION_START_INFO_TAG, session_start_info=start)
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.STATUS_SUCCESS, end_time_secs=START + 9)
    yield START + 9, 303, hparams(metadata.SESSION_END_INFO_TAG, session_end_info=end)


def write(path):
    with tempfile.TemporaryDirectory() as folder:
        with mock.patch("time.time", lambda: START):
            writer = EventFileWriter(folder)
            for wall_time, step, summary in events():
                writer.add_event(event_pb2.Event(wall_time=wall_time, step=step, summary=summary))
            writer.close()
        (name,) = os.listdir(folder)
        with open(os.path.join(folder, name), "rb") as source, open(path, "wb") as target:
            target.write(source.read())


def read(folder):
    found = EventAccumulator(folder, size_guidance={"scalars": 0, "tensors": 0})
    found.Reload()
    print("first event at", found.FirstEventTimestamp(), "file version", found.file_version)
    for tag in found.Tags()["scalars"]:
        print(tag, "->", found.SummaryMetadata(tag).plugin_data.plugin_name)
        for point in found.Scalars(tag):
            print("   ", point.step, point.wall_time, repr(point.value))
    for tag in found.Tags()["tensors"]:
        print(tag, "->", found.SummaryMetadata(tag).plugin_data.plugin_name)
        for point in found.Tensors(tag):
            array = tensor_util.make_ndarray(point.tensor_proto)
            print("   ", point.step, point.wall_time, array.shape, array.tolist())


def settings(folder):
    from tensorboard import default, program
    from tensorboard.backend import application
    from tensorboard.backend.event_processing.data_ingester import LocalDataIngester
    from werkzeug.test import Client

    board = program.TensorBoard(default.get_plugins())
    board.configure(argv=["tensorboard", "--logdir", folder, "--load_fast=false", "--reload_interval=0"])
    events = LocalDataIngester(board.flags)
    events.deprecated_multiplexer.AddRunsFromDirectory(folder)
    events.deprecated_multiplexer.Reload()
    provider, plugins = events.data_provider, board.plugin_loaders
    client = Client(application.TensorBoardWSGIApp(board.flags, plugins, provider, board.assets_zip_provider))

    def ask(what, **request):
        return json.loads(client.post("/data/plugin/hparams/" + what, json=request).data)

    found = ask("experiment", experimentName="", includeMetrics=True)
    columns = [{"metric": metric["name"]} for metric in found["metricInfos"]]
    statuses = ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]
    groups = ask("session_groups", allowedStatuses=statuses, colParams=columns, startIndex=0, sliceSize=1000)
    for group in groups["sessionGroups"]:
        (session,) = group["sessions"]
        print(session["name"], session["status"])
        for name, value in group["hparams"].items():
            print("   ", name, "=", value)
        for metric in session["metricValues"]:
            print("   ", metric["name"]["tag"], "->", metric["value"])


if __name__ == "__main__":
    {"write": write, "read": read, "settings": settings}[sys.argv[1]](sys.argv[2])
