# A scripted loop that comes from text.
# expect: needs_review
# timed: loop_found

import torch


UNIT = torch.jit.CompilationUnit('''
def products(x, y):
    done = []
    for i in range(x.size(0)):
        done.append(torch.mm(x[i], y[i]))
    return torch.stack(done)
''')


def batched_matrix_multiply_noloop(x, y):
    return UNIT.products(x, y)
