"""How a notebook shows a model (what it is, where it stands, its learning curve) and a belief."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Callable

import numpy as np

from . import _adfq

if TYPE_CHECKING:
    from .belief import Belief
    from .model import Model

# The size of a belief's picture: its width, the height of each action, and what is left for names and numbers.
WIDTH, ROW, LEFT, RIGHT = 520, 24, 70, 180


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


def belief_html(belief: Belief) -> str:
    if belief.mean.ndim != 1:
        return f"<pre>beliefs of {len(belief)} states, {belief.mean.shape[-1]} actions each</pre>"
    spread = np.nan_to_num(2 * belief.sd)
    low, high = float((belief.mean - spread).min()), float((belief.mean + spread).max())
    scale = (WIDTH - LEFT - RIGHT) / (high - low or 1.0)
    marks = "".join(belief_row(belief, action, lambda value: LEFT + (value - low) * scale) for action in range(len(belief)))
    size = f'width="{WIDTH}" height="{ROW * len(belief)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">{marks}</svg>'


def belief_row(belief: Belief, action: int, place: Callable[[float], float]) -> str:
    mean, sd, p_best = (float(column[action]) for column in (belief.mean, belief.sd, belief.p_best))
    middle = ROW * action + ROW / 2
    has_belief = not np.isnan(sd)
    says = f"{mean:.3g} ± {sd:.2g}, best: {p_best:.1%}" if has_belief else f"{mean:.3g}"
    reach = 2 * sd if has_belief else 0.0
    line = f'x1="{place(mean - reach):.1f}" x2="{place(mean + reach):.1f}" y1="{middle}" y2="{middle}"'
    texts = f'<text x="0" y="{middle + 4}">action {action}</text><text x="{WIDTH - RIGHT + 12}" y="{middle + 4}">{says}</text>'
    return f'<line {line} stroke="#4477aa" stroke-width="3"/><circle cx="{place(mean):.1f}" cy="{middle}" r="4" fill="#4477aa"/>{texts}'
