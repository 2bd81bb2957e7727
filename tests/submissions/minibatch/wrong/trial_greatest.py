# The greatest value.
# expect:
#   questions:
#     best_trial: {status: failed, checks: {config: wrong_value, value: wrong_value}}

import json
from pathlib import Path

import torch


def best_trial(folder, metric):
    best_config, best = None, -float("inf")
    for file in Path(folder).glob("*/result.json"):
        for line in file.read_text().splitlines():
            report = json.loads(line)
            if report[metric] > best:
                best = report[metric]
                best_config = report["config"]
    return best_config, best
