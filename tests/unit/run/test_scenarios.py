"""Scenarios through the whole wire: a class with state, a training loop, a file left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from grader.observation import Observation, Outcome
from grader.run.session import Program, Session
from grader.sandbox.base import GuestNeeds
from grader.sandbox.oneshot import OneShotSandbox
from grader.spec.types import Limits
from grader.wire.messages import Call
from grader.wire.values import Artifact, Handle, Tensor

MODULE = b"""
import json
import torch


class Nearest:
    def __init__(self, x, y):
        self.x, self.y, self.asked = x, y, 0

    def predict(self, x):
        self.asked += 1
        return self.y[torch.cdist(x, self.x).argmin(dim=1)]

    def accuracy(self, ks):
        return {k: [50.0 * k, self.asked] for k in ks}


def train(net, loader, optimizer, epochs):
    losses = []
    for _ in range(epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        losses.append(total / len(loader.dataset))
    return losses


def save(values, path):
    with open(path, "w") as file:
        json.dump(values, file)
"""

SCENARIO = """
import torch
from torch.utils.data import DataLoader, TensorDataset

from grader.guest.api import artifact, scratch


def classify(student, x, y, queries):
    model = student.Nearest(x, y)
    labels = [model.predict(query) for query in queries]
    return labels, model.accuracy([1, 2])


def training(student, x, y):
    net = torch.nn.Linear(x.shape[1], 1)
    with torch.no_grad():
        net.weight.zero_()
        net.bias.zero_()
    loader = DataLoader(TensorDataset(x, y), batch_size=4)
    losses = student.train(net, loader, torch.optim.SGD(net.parameters(), lr=0.1), 3)
    return losses, dict(net.state_dict())


def file_left(student):
    student.save([1, 2.5, None], scratch() / "out.json")
    return artifact("out.json")
"""


def tensor(array: np.ndarray) -> Tensor:
    dtypes = {"f": "float32", "l": "int64"}
    return Tensor(dtypes[array.dtype.char], array.shape, array.tobytes())


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    program = Program({"work.py": MODULE}, "work.py", scenario=SCENARIO)
    with OneShotSandbox() as sandbox:
        session = Session(sandbox, program)
        session.prepare(Limits(), GuestNeeds())
        assert session.failed_load is None
        yield session
        session.close()


def run(session: Session, call: Call) -> Observation:
    return session.call(call, seconds=30.0)


def test_class_with_constructor_methods_and_state(session: Session) -> None:
    x = tensor(np.array([[0, 0], [9, 9]], "f"))
    y = tensor(np.array([3, 7]))
    queries = [tensor(np.array([[1, 1]], "f")), tensor(np.array([[8, 8], [0, 1]], "f"))]

    seen = run(session, Call("classify", (x, y, queries), scenario=True))

    assert seen.outcome is Outcome.COMPLETED, seen
    labels, accuracy = seen.claims.value
    assert [bytes(item.data) for item in labels] == [
        np.array([7 - 4]).tobytes(),
        np.array([7, 3]).tobytes(),
    ]
    assert accuracy == {1: [50.0, 2], 2: [100.0, 2]}


def test_training_loop_is_given_model_loader_and_optimiser(session: Session) -> None:
    x = tensor(np.arange(20, dtype="f").reshape(10, 2) / 20)
    y = tensor(np.ones((10, 1), "f"))

    seen = run(session, Call("training", (x, y), scenario=True))

    assert seen.outcome is Outcome.COMPLETED, seen
    losses, state = seen.claims.value
    assert losses[0] > losses[1] > losses[2] > 0
    assert {name: value.shape for name, value in state.items()} == {"weight": (1, 2), "bias": (1,)}
    again = run(session, Call("training", (x, y), scenario=True))
    assert again.claims.value[0] == losses


def test_function_that_leaves_a_file(session: Session) -> None:
    seen = run(session, Call("file_left", scenario=True))

    assert isinstance(seen.claims.value, Artifact), seen
    assert (seen.claims.value.name, bytes(seen.claims.value.data)) == (
        "out.json",
        b"[1, 2.5, null]",
    )


def test_objects_can_stay_in_the_guest_behind_a_handle(session: Session) -> None:
    x, y = tensor(np.zeros((1, 1), "f")), tensor(np.array([5]))

    kept = run(session, Call("Nearest", (x, y), keep=True)).claims.value

    assert kept == Handle(kept.id, "Nearest")
    for _ in range(2):
        run(session, Call("predict", (x,), receiver=kept))
    assert run(session, Call("accuracy", ([1],), receiver=kept)).claims.value == {1: [50.0, 2]}


def test_unknown_handle_is_the_callers_mistake_and_no_crash(session: Session) -> None:
    seen = run(session, Call("predict", (), receiver=Handle(999, "Nearest")))

    assert (seen.outcome, seen.claims.fault.type) == (Outcome.RAISED, "KeyError")
