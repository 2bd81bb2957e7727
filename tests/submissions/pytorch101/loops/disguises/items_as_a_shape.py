# An object of the file's own whose “shape” is as long as the batch.
# expect: loop_found


class Batch:
    def __init__(self, items):
        self.shape = range(items)


def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in Batch(len(x)).shape:
        z[i] = x[i] @ y[i]
    return z
