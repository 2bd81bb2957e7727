"""The tutorial's figures beside the timeline's, and the sweep over split sizes.

``python tests/bench/timeline.py [--card v100] [--json FILE]``: one multiplier on the card's peak
and bandwidth is set from the tutorial's 3.75 s for three batches on one GPU, the link from its 7 %
for model parallelism; nothing else is fitted. Then what it takes to step through both variants
without arithmetic, and what other cards would say. Some five minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from grader.report.pictures.gantt import draw_lap
from grader.report.pictures.split_sizes import draw_split_sizes
from grader.report.pictures.times import Spread, draw_times
from grader.vgpu import Machine, virtual_gpus
from grader.vgpu.timeline import PROFILES, Profile, Timeline, on_timeline
from grader.vgpu.trace import Event

ROOT = Path(__file__).parents[2]
SINGLE, MODEL_PARALLEL, PIPELINED_20, PIPELINED_12 = 3.75, 4.02, 2.51, 2.43
SPLITS = (1, 3, 5, 8, 10, 12, 20, 40, 60)
BATCHES = 3


def record(machine: Machine, train: Callable[..., None], make: Callable[[], Any]) -> list[Event]:
    """Return what three batches of training do."""
    with on_timeline("v100", arithmetic=False):
        model = make()
        first = machine.trace.count
        train(model, BATCHES)
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)
        events = [event for event in machine.trace.events if event.sequence >= first]
    machine.trace.clear()
    return events


def seconds(events: Sequence[Event], card: Profile) -> float:
    line = Timeline(card)
    line.take(events)
    return line.end


def solve(function: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Return where a falling function has a value."""
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if function(middle) > wanted else (low, middle)
    return middle


def calibrated(
    card: Profile, single: Sequence[Event], cut: Sequence[Event]
) -> tuple[float, Profile]:
    """Return the multiplier, and the card with it and with its link."""
    factor = solve(lambda x: seconds(single, card.slowed(x)), SINGLE, 1e-3, 10)
    slow = card.slowed(factor)
    link = solve(lambda x: seconds(cut, slow.slowed(1, x)), MODEL_PARALLEL, 1e7, 1e12)
    return factor, slow.slowed(1, link)


def sweep(
    single: Sequence[Event], pipelined: dict[int, list[Event]], card: Profile
) -> dict[int, float]:
    """Return by how many percent each split size is faster than one GPU."""
    alone = seconds(single, card)
    return {size: 100 * (alone / seconds(events, card) - 1) for size, events in pipelined.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--card", default="v100", choices=PROFILES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pictures", type=Path, help="folder for what docs/vgpu.md shows")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "reference" / "parallel"), str(ROOT / "assignments" / "parallel")]
    import parallel  # noqa: PLC0415  beside its resnet.py
    import resnet  # noqa: PLC0415

    told: dict[str, Any] = {}
    with virtual_gpus(2) as machine:
        single = record(machine, parallel.train, lambda: resnet.resnet50().to("cuda:0"))
        start = time.perf_counter()
        cut = record(machine, parallel.train, parallel.ModelParallelResNet50)
        told["wall_model_parallel"] = (time.perf_counter() - start) / BATCHES
        pipelined = {}
        for size in SPLITS:
            start = time.perf_counter()
            make = lambda size=size: parallel.PipelineParallelResNet50(size)  # noqa: E731
            pipelined[size] = record(machine, parallel.train, make)
            told[f"wall_pipelined_{size}"] = (time.perf_counter() - start) / BATCHES
        laps = {size: lap(parallel, size) for size in (120, 20)} if options.pictures else {}
    for name, card in PROFILES.items():
        factor, fitted = calibrated(card, single, cut)
        told[name] = {
            "factor": factor,
            "link": fitted.peer,
            "sweep": sweep(single, pipelined, fitted),
            "as_published": {
                "single": seconds(single, card),
                "model_parallel": 100 * (seconds(cut, card) / seconds(single, card) - 1),
                "sweep": sweep(single, pipelined, card),
            },
        }
    show(told, options.card)
    if options.pictures:
        draw(told, options.card, laps, options.pictures)
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def lap(parallel: Any, size: int) -> dict[Any, Any]:
    """Return what a step of training with such splits says of itself, on a V100."""
    with on_timeline("v100", arithmetic=False) as line:
        model = parallel.PipelineParallelResNet50(size)
        images = torch.empty(120, 3, 128, 128).to("cuda:0")
        with line.lap() as step:
            model(images).square().mean().backward()
    return step.report


def draw(told: dict[str, Any], name: str, laps: dict[int, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = [name, *(other for other in PROFILES if other != name)]
    found = {each: told[each]["sweep"] for each in names}
    measured = {12: 100 * (SINGLE / PIPELINED_12 - 1), 20: 100 * (SINGLE / PIPELINED_20 - 1)}
    (folder / "split-sizes.svg").write_bytes(draw_split_sizes(found, measured))
    (folder / "variants.svg").write_bytes(bars(told, name))
    for size, report in laps.items():
        title = f"ResNet-50 on two V100, a batch of 120 in splits of {size}"
        drawn = draw_lap(report, title)
        assert drawn is not None
        (folder / f"pipeline-{size}.svg").write_bytes(drawn)


def bars(told: dict[str, Any], name: str) -> bytes:
    """Return the tutorial's bars beside the timeline's; its error bars span all cards."""
    tutorial = [SINGLE, MODEL_PARALLEL, PIPELINED_20, PIPELINED_12]

    def predicted(size: int) -> Spread:
        all_of_them = [SINGLE / (1 + told[card]["sweep"][size] / 100) for card in PROFILES]
        middle = SINGLE / (1 + told[name]["sweep"][size] / 100)
        return Spread(middle, min(all_of_them), max(all_of_them))

    given = [Spread(each, each, each) for each in (SINGLE, MODEL_PARALLEL)]
    return draw_times(
        ["one GPU", "cut in two", "splits of 20", "splits of 12"],
        {
            "tutorial": [Spread(each, each, each) for each in tutorial],
            f"timeline, {name}": [*given, predicted(20), predicted(12)],
        },
        "from the least to the greatest of all cards; the first two are set",
    )


def show(told: dict[str, Any], name: str) -> None:
    card = told[name]
    print(
        f"{name}: {card['factor']:.4f} × its peak and bandwidth, link {card['link'] / 1e9:.2f} GB/s"
    )
    found = card["sweep"]
    for size, measured in ((20, PIPELINED_20), (12, PIPELINED_12)):
        due = 100 * (SINGLE / measured - 1)
        print(f"  split {size}: tutorial {due:.1f} %, timeline {found[size]:.1f} %, "
              f"{found[size] - due:+.1f} points")  # fmt: skip
    print(f"  best split: tutorial 12, timeline {max(found, key=found.get)}")
    print("split size, % faster than one GPU; calibrated alike, and as published:")
    for other in PROFILES:
        row = "".join(f"{told[other]['sweep'][size]:7.1f}" for size in SPLITS)
        raw = told[other]["as_published"]
        print(f"  {other:16}{row}   best {max(SPLITS, key=told[other]['sweep'].get)}")
        row = "".join(f"{raw['sweep'][size]:7.1f}" for size in SPLITS)
        print(f"  {'':16}{row}   {raw['single']:.3f} s, cut {raw['model_parallel']:+.1f} %")
    print(f"wall time of a step: model parallel {told['wall_model_parallel']:.2f} s, pipelined "
          f"{told['wall_pipelined_20']:.2f} s")  # fmt: skip


if __name__ == "__main__":
    main()
