# Prints at import and in the functions.
# expect:
#   questions:
#     "*": {status: passed}

import torch

print("Hello from pytorch101.py!")


def batched_matrix_multiply_loop(x, y):
    print("x:", x.shape, "y:", y.shape)
    z = []
    for i in range(x.shape[0]):
        print(i, x[i], y[i], sep="\n")
        z.append(x[i] @ y[i])
    print(f"{z[0]}")
    return torch.stack(z)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    import sys

    print(x, file=sys.stderr)
    mean = x.sum(dim=0) / x.shape[0]
    print("mean", mean, flush=True)
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))
    sys.stdout.write(f"std {std}\n")
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()


print("the file was read to its end")
