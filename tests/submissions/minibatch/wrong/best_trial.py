# Wrong ways to write best_trial. docs/authoring.md explains the cells.

import json
from pathlib import Path
import torch


# %% trial_config_of_last
# The best value beside another configuration.
# expect:
#   questions:
#     best_trial: {status: partial, checks: {config: wrong_value, value: ok}}

def best_trial(folder, metric):
    best_config, best = None, float("inf")
    for file in Path(folder).glob("*/result.json"):
        for line in file.read_text().splitlines():
            report = json.loads(line)
            if report[metric] < best:
                best = report[metric]
                best_config = report["config"]
    return {"lr": 0.5, "hidden": 1}, best


# %% trial_greatest
# The greatest value.
# expect:
#   questions:
#     best_trial: {status: partial, points: 1.2, checks: {config: wrong_value, value: wrong_value}}

def best_trial(folder, metric):
    best_config, best = None, -float("inf")
    for file in Path(folder).glob("*/result.json"):
        for line in file.read_text().splitlines():
            report = json.loads(line)
            if report[metric] > best:
                best = report[metric]
                best_config = report["config"]
    return best_config, best


# %% trial_last_report
# Only the last report of each trial counts.
# expect:
#   questions:
#     best_trial: {status: partial, points: 1.2, checks: {config: wrong_value, value: wrong_value}}

def best_trial(folder, metric):
    best_config, best = None, float("inf")
    for file in Path(folder).glob("*/result.json"):
        for line in file.read_text().splitlines()[-1:]:
            report = json.loads(line)
            if report[metric] < best:
                best = report[metric]
                best_config = report["config"]
    return best_config, best


# %% trial_nan
# NaN is never beaten.
# expect:
#   questions:
#     best_trial: {status: partial, checks: {config: ok, value: not_finite}}

def best_trial(folder, metric):
    best_config, best = None, float("inf")
    for file in Path(folder).glob("*/result.json"):
        for line in file.read_text().splitlines():
            report = json.loads(line)
            if report[metric] < best:
                best = report[metric]
                best_config = report["config"]
    return best_config, float("nan")


# %% trial_wants_all_results
# Dies of a trial that left no results.
# expect:
#   questions:
#     best_trial: {status: failed, code: raised}

def best_trial(folder, metric):
    best_config, best = None, float("inf")
    for file in (path / "result.json" for path in Path(folder).iterdir() if path.is_dir()):
        for line in file.read_text().splitlines():
            report = json.loads(line)
            if report[metric] < best:
                best = report[metric]
                best_config = report["config"]
    return best_config, best
