# exec of text that is encoded.
# expect: needs_review
# timed: loop_found

import base64

import torch


TEXT = "eiA9IFthIEAgYiBmb3IgYSwgYiBpbiB6aXAoeCwgeSld"


def batched_matrix_multiply_noloop(x, y):
    space = {"x": x, "y": y}
    exec(base64.b64decode(TEXT), space)
    return torch.stack(space["z"])
