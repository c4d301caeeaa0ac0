"""Scores folders of CSV files with the package bsuite itself: a line of JSON for each.

    python bsuite_score.py FOLDER...

A line holds the score of every experiment and of every tag; null where the package gives no number.
"""

import json
import math
import sys
import warnings

import pandas

# The package was written for a pandas that had this, and calls it for DeepSea.
if not hasattr(pandas.Series, "append"):
    pandas.Series.append = lambda self, other: pandas.concat([self, other])

warnings.simplefilter("ignore")

from bsuite.experiments import summary_analysis  # noqa: E402
from bsuite.logging import csv_load  # noqa: E402


def number(x):
    return None if math.isnan(x) else float(x)


for folder in sys.argv[1:]:
    rows, _ = csv_load.load_bsuite(folder)
    names = set(rows.bsuite_env)
    # Rows before episode 100 do not count there, and without any other the package fails.
    rows = rows[(rows.bsuite_env != "deep_sea_stochastic") | (rows.episode >= 100)]
    scores = summary_analysis.bsuite_score(rows)
    tags = summary_analysis.ave_score_by_tag(scores, None)
    unscored = dict.fromkeys(names - set(scores.bsuite_env))
    print(json.dumps({
        "experiments": unscored | {name: number(x) for name, x in zip(scores.bsuite_env, scores.score)},
        "finished": {name: False for name in unscored} | {name: bool(x) for name, x in zip(scores.bsuite_env, scores.finished)},
        "tags": {name: number(x) for name, x in zip(tags.tag, tags.score)},
    }))
