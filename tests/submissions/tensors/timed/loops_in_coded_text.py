# Loops in helpers that are made from coded text: comprehensions, a generator, a class.
# expect:
#   questions:
#     "*": {checks: {no_loops: loop_found}}

import base64

import torch

TEXT = (
    "aW1wb3J0IHRvcmNoCgoKZGVmIHJvd3MoeCwgdik6CiAgICByZXR1cm4gdG9yY2guc3RhY2soW3JvdyBAIHYgZm9yIHJv"
    "dyBpbiB4XSkKCgpkZWYgdGltZXModiwgdyk6CiAgICBkZWYgZWFjaCgpOgogICAgICAgIGZvciBudW1iZXIgaW4gdjoK"
    "ICAgICAgICAgICAgeWllbGQgbnVtYmVyICogdwoKICAgIHJldHVybiB0b3JjaC5zdGFjayhsaXN0KGVhY2goKSkpCgoK"
    "Y2xhc3MgU3VtczoKICAgIGRlZiBfX2luaXRfXyhzZWxmLCB4LCB3KToKICAgICAgICBzZWxmLnggPSB4CiAgICAgICAg"
    "c2VsZi53ID0gdwoKICAgIGRlZiBfX2dldGl0ZW1fXyhzZWxmLCBpKToKICAgICAgICBpZiBpID09IGxlbihzZWxmLngp"
    "OgogICAgICAgICAgICByYWlzZSBJbmRleEVycm9yCiAgICAgICAgcmV0dXJuIHNlbGYueFtpXSArIHNlbGYud1tpXQo="
)
made = {}
exec(base64.b64decode(TEXT), made)


def matvec_three_ways(x, v):
    product = made["rows"](x, v)
    return product, product.view(-1, 1), product


def outer_product(v, w):
    return made["times"](v, w)


def add_column(x, w):
    return torch.stack(list(made["Sums"](x, w)))
