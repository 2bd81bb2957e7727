# Bytecode made at import, marshalled, and put into a function.
# expect: needs_review
# timed: loop_found

import marshal

import torch


SOURCE = "def run(x, y):\n    return [a @ b f" "or a, b in zip(x, y)]"
CODE = marshal.dumps(compile(SOURCE, torch.__file__, "exec"))


def batched_matrix_multiply_noloop(x, y):
    space = {}
    exec(marshal.loads(CODE), space)
    return torch.stack(space["run"](x, y))
