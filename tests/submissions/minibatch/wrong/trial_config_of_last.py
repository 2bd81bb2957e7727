# The best value beside another configuration.
# expect:
#   questions:
#     best_trial: {status: partial, checks: {config: wrong_value, value: ok}}

import json
from pathlib import Path

import torch


def best_trial(folder, metric):
    best_config, best = None, float("inf")
    for file in Path(folder).glob("*/result.json"):
        for line in file.read_text().splitlines():
            report = json.loads(line)
            if report[metric] < best:
                best = report[metric]
                best_config = report["config"]
    return {"lr": 0.5, "hidden": 1}, best
