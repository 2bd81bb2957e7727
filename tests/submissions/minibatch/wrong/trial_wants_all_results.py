# Dies of a trial that left no results.
# expect:
#   questions:
#     best_trial: {status: failed, code: raised}

import json
from pathlib import Path

import torch


def best_trial(folder, metric):
    best_config, best = None, float("inf")
    for file in (path / "result.json" for path in Path(folder).iterdir() if path.is_dir()):
        for line in file.read_text().splitlines():
            report = json.loads(line)
            if report[metric] < best:
                best = report[metric]
                best_config = report["config"]
    return best_config, best
