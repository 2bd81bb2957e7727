# Goes through the first size alone, and through so many items inside.
# expect: loop_found


def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])
    for s in x.shape[:1]:
        for i in range(s):
            z[i] = x[i] @ y[i]
    return z
