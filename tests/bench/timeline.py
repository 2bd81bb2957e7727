"""The tutorial's figures beside the timeline's, and the sweep over split sizes.

``python tests/bench/timeline.py [--card k80] [--json FILE]``: nothing is fitted; what a card needs
stands in its profile. As the tutorial does, it reads the host's clock after three batches and waits
for no GPU. ``--calibrate CARD`` says how many images a second of ResNet-50 a card trains: what a
profile's ``sustained`` is taken from. Some three minutes.
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
from drawings import Spread, draw_split_sizes, draw_times

from grader.report.pictures.gantt import draw_lap
from grader.vgpu import Machine, virtual_gpus
from grader.vgpu.core.trace import TraceEvent
from grader.vgpu.timeline import PROFILES, Profile, Timeline, on_timeline

ROOT = Path(__file__).parents[2]
SINGLE, MODEL_PARALLEL, PIPELINED_20, PIPELINED_12 = 3.75, 4.02, 2.51, 2.43
SPLITS = (1, 3, 5, 8, 10, 12, 20, 40, 60)
BATCHES = 3


def record(
    machine: Machine, train: Callable[..., None], make: Callable[[], Any]
) -> list[TraceEvent]:
    """Return what three batches of training do."""
    with on_timeline("v100", arithmetic=False):
        model = make()
        first = machine.trace.count
        train(model, BATCHES)
        events = list(machine.trace.since(first))
    machine.trace.clear()
    return events


def seconds(events: Sequence[TraceEvent], card: Profile) -> float:
    """Return the host's time when all is issued."""
    line = Timeline(card)
    line.take(events)
    return line.now


def images_a_second(card: Profile, batch: int = 64) -> float:
    """Return how many images of 224 × 224 a card trains ResNet-50 with."""
    import resnet  # noqa: PLC0415  of the assignment

    with virtual_gpus(1), on_timeline(card, arithmetic=False) as line:
        model = resnet.resnet50().to("cuda:0")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        images = torch.empty(batch, 3, 224, 224, device="cuda:0")
        labels = torch.zeros(batch, dtype=torch.long, device="cuda:0")
        for _ in range(2):
            with line.lap() as step:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(images), labels).backward()
                optimizer.step()
    return batch / step.elapsed


def sweep(
    single: Sequence[TraceEvent], pipelined: dict[int, list[TraceEvent]], card: Profile
) -> dict[int, float]:
    """Return by how many percent each split size is faster than one GPU."""
    alone = seconds(single, card)
    return {size: 100 * (alone / seconds(events, card) - 1) for size, events in pipelined.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--card", default="k80", choices=PROFILES)
    parser.add_argument("--calibrate", choices=PROFILES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pictures", type=Path, help="folder for what docs/vgpu-time.md shows")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "reference" / "parallel"), str(ROOT / "assignments" / "parallel")]
    if options.calibrate:
        rate = images_a_second(PROFILES[options.calibrate])
        print(f"{options.calibrate}: {rate:.1f} images a second, batch 64, 224 × 224")
        return
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
        sizes = (120, 20) if options.pictures else ()
        laps = {size: lap(parallel, size, options.card) for size in sizes}
    for name, card in PROFILES.items():
        told[name] = {
            "single": seconds(single, card),
            "model_parallel": 100 * (seconds(cut, card) / seconds(single, card) - 1),
            "sweep": sweep(single, pipelined, card),
        }
    show(told, options.card)
    if options.pictures:
        draw(told, options.card, laps, options.pictures)
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def lap(parallel: Any, size: int, card: str) -> dict[Any, Any]:
    """Return what a step of training with such splits says of itself."""
    with on_timeline(card, arithmetic=False) as line:
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
        title = f"ResNet-50 on two {name.upper()}, a batch of 120 in splits of {size}"
        drawn = draw_lap(report, title)
        assert drawn is not None
        (folder / f"pipeline-{size}.svg").write_bytes(drawn)


def bars(told: dict[str, Any], name: str) -> bytes:
    """Return the tutorial's bars beside the timeline's; its error bars span all cards."""
    tutorial = [SINGLE, MODEL_PARALLEL, PIPELINED_20, PIPELINED_12]
    card = told[name]
    single = card["single"]
    found = [single, single * (1 + card["model_parallel"] / 100)]
    found += [single / (1 + card["sweep"][size] / 100) for size in (20, 12)]

    def alone(times: Sequence[float]) -> list[Spread]:
        return [Spread(each, each, each) for each in times]

    return draw_times(
        ["one GPU", "cut in two", "splits of 20", "splits of 12"],
        {"tutorial": alone(tutorial), f"timeline, {name}": alone(found)},
        "none, nothing varies",
    )


def show(told: dict[str, Any], name: str) -> None:
    card, found = told[name], told[name]["sweep"]
    cut = 100 * (MODEL_PARALLEL / SINGLE - 1)
    print(f"{name}: one GPU {card['single']:.2f} s; cut in two {card['model_parallel']:.1f} % "
          f"slower, tutorial {cut:.1f} %")  # fmt: skip
    for size, measured in ((20, PIPELINED_20), (12, PIPELINED_12)):
        due = 100 * (SINGLE / measured - 1)
        print(f"  split {size}: tutorial {due:.1f} %, timeline {found[size]:.1f} %, "
              f"{found[size] - due:+.1f} points")  # fmt: skip
    print(f"  best split: tutorial 12, timeline {max(found, key=found.get)}")
    print("split size, % faster than one GPU:")
    for other, each in told.items():
        if "sweep" not in (each if isinstance(each, dict) else {}):
            continue
        row = "".join(f"{each['sweep'][size]:7.1f}" for size in SPLITS)
        print(f"  {other:16}{row}   best {max(SPLITS, key=each['sweep'].get)}; one GPU "
              f"{each['single']:.3f} s, cut {each['model_parallel']:+.1f} %")  # fmt: skip
    print(f"wall time of a step: model parallel {told['wall_model_parallel']:.2f} s, pipelined "
          f"{told['wall_pipelined_20']:.2f} s")  # fmt: skip


if __name__ == "__main__":
    main()
