"""Tiny data in place of torchvision's downloads, and one seed, for public scripts.

Python imports a module of this name when it starts. Nothing is imported beforehand: modules are
changed when a script has imported them.
"""

import random
import sys
from importlib import import_module
from importlib.machinery import PathFinder


def _seed(torch):
    random.seed(0)
    torch.manual_seed(0)


_CHANGES = {
    "torch": _seed,
    "torchvision.datasets": lambda datasets: import_module("tiny_data").replace(datasets),
}


class _After:
    """Changes a module when it has been imported."""

    def find_spec(self, name, path, target=None):
        spec = PathFinder.find_spec(name, path) if name in _CHANGES else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            _CHANGES[name](module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _After())
