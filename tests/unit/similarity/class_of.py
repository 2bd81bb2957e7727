"""Small classes to compare."""

from __future__ import annotations

from pathlib import Path

from grader.batch.discover import ClassSubmission
from grader.similarity.compare import Findings, compare
from grader.similarity.texts import ScriptClass, Scripts, read_class, read_starter

LONG = '''\
import torch


def first(x, labels):
    """What is asked."""
    rows, columns = x.shape
    best = torch.zeros(rows, dtype=torch.int64)
    for row in range(rows):
        for column in range(columns):
            if x[row, column] > x[row, best[row]] + 0.5:
                best[row] = column
    return best.to(labels.dtype) - labels.clamp(min=3)


def second(values, weights):
    """Something else."""
    order = values.argsort(descending=True)
    total = weights[order].cumsum(dim=0) / weights.sum()
    keep = (total <= 0.75).nonzero().flatten()
    out = values.new_full((len(values), 4), -1.0)
    out[keep, 1] = values[order][keep] * 2 + 7
    return out.roll(1, dims=1), keep.tolist()
'''
DISGUISED = '''\
import torch
# I did this on my own.

def second(v, w):
    o = v.argsort(descending=True)   # sorted
    t = w[o].cumsum(dim=0) / w.sum()
    k = (t <= 0.75).nonzero().flatten()
    res = v.new_full((len(v), 4), -1.0)
    # fill
    res[k, 1] = v[o][k] * 2 + 7
    return res.roll(1, dims=1), k.tolist()

def first(matrix, classes):
    """Mine."""
    n, m = matrix.shape
    answer = torch.zeros(n, dtype=torch.int64)
    for i in range(n):
        for j in range(m):
            if (
                matrix[i, j] > matrix[i, answer[i]] + 0.5
            ):
                answer[i] = j
    return answer.to(classes.dtype) - classes.clamp(min=3)
'''
OTHER = """\
import torch


def first(x, labels):
    margin = x - x.gather(1, labels[:, None])
    return margin.clamp(min=0).sum(1).add(1).log().mul(labels > 2).float().numpy()


def second(values, weights):
    pairs = sorted(zip(values.tolist(), weights.tolist()), key=lambda pair: -pair[0])
    kept, seen = [], 0.0
    while pairs and seen < 0.75:
        value, weight = pairs.pop(0)
        seen += weight
        kept.append({"value": value, "weight": weight, "so_far": seen})
    return torch.tensor([item["value"] for item in kept]), len(pairs)
"""


def read(folder: Path, **files: str | bytes) -> ScriptClass:
    """Return hand-ins with these contents, read."""
    hand_ins = []
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        notebook = data.lstrip().startswith(b'{"cells"')
        path = folder / name / ("hw.ipynb" if notebook else "hw.py")
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        hand_ins.append(ClassSubmission(name, path.parent))
    with Scripts() as scripts:
        return read_class(hand_ins, ["hw.py"], scripts)


def compared(folder: Path, starter: str = "", **files: str) -> Findings:
    """Return what comparing hand-ins with these contents finds."""
    (folder / "starter").mkdir(parents=True)
    if starter:
        (folder / "starter" / "hw.py").write_text(starter)
    with Scripts() as scripts:
        given = read_starter(folder / "starter", scripts)
    return compare(read(folder / "class", **files).compared, given, 0.6)
