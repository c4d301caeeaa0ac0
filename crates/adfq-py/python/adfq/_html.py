"""A model as a notebook shows it: what it is, where it stands, and its learning curve."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from . import _adfq

if TYPE_CHECKING:
    from .model import Model


def model_html(model: Model) -> str:
    config = model.config
    rows = [
        ("environment", config["env"]),
        ("agent", f"{config['agent']} with the policy {config['policy']}"),
        ("seed", str(config["seed"])),
        ("steps", f"{model.steps:,} of {config['steps']:,}"),
        *last_evaluation(model),
        ("folder", str(model.folder)),
    ]
    cells = "".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    settings = html.escape(config.to_toml())
    details = f"<details><summary>settings</summary><pre>{settings}</pre></details>"
    return f"<table>{cells}</table>{curve(model)}{details}"


def last_evaluation(model: Model) -> list[tuple[str, str]]:
    table = model.evaluations()
    if not table or not len(table["step"]):
        return []
    last = table["step"] == table["step"].max()
    returns = table["return"][last]
    return [("last evaluation", f"{returns.mean():.4g} over {len(returns)} episodes")]


def curve(model: Model) -> str:
    """Returns over steps, or nothing before there are any."""
    lines: list[tuple[str, list[tuple[float, float]]]] = []
    evaluations, metrics = model.evaluations(), model.metrics()
    if evaluations:
        steps = np.unique(evaluations["step"])
        means = [evaluations["return"][evaluations["step"] == step].mean() for step in steps]
        lines.append(("evaluation", [(float(step), float(mean)) for step, mean in zip(steps, means)]))
    if metrics:
        points = zip(metrics["step"], metrics["train_return"])
        lines.append(("training", [(float(step), float(value)) for step, value in points if not np.isnan(value)]))
    lines = [(name, points) for name, points in lines if points]
    return _adfq.curve(f"{model.config['agent']} in {model.config['env']}", lines) if lines else ""
