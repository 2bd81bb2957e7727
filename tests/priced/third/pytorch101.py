# %% mutate_on_clone
# taking: The writing loop is right and the last value wins, but the caller's matrix is untouched; in place is a third of the points.
# price: 0.6
# truth: Writes into a clone and returns that, so x is neither changed nor returned.

def mutate_tensor(x, indices, values):
    result = x.clone()
    for k in range(len(indices)):
        row, col = indices[k]
        result[row, col] = values[k]
    return result

# %% mutate_one_fancy_write_raises_on_empty
# taking: One vectorised write; fine for ordinary lists, but raises on an empty list and the order for duplicates is not promised; small slip.
# price: 0.7
# truth: zip(*indices) cannot be unpacked when indices is empty, so that documented case raises ValueError.

def mutate_tensor(x, indices, values):
    rows, cols = zip(*indices)
    rows = torch.tensor(rows)
    cols = torch.tensor(cols)
    x[rows, cols] = torch.tensor(values, dtype=x.dtype)
    return x

# %% count_only_two_dims
# taking: Obeys the rule but has only thought of matrices; rank 1 raises and rank 3 comes out wrong. The rule is half, but the count is the task.
# price: 0.5
# truth: Multiplies only the first two sizes.

def count_tensor_elements(x):
    M = x.shape[0]
    N = x.shape[1]
    return M * N

# %% multiples_range_by_step
# taking: Handles the multiples inside but assumes that start is a multiple of ten, and forgets that the end belongs; dtype is right.
# price: 0.25
# truth: Steps by ten from start (5, 15, ...) instead of from the next multiple, and excludes stop.

def multiples_of_ten(start, stop):
    # every ten numbers one multiple
    return torch.arange(start, stop, 10, dtype=torch.float64)

# %% slices_third_column_flat
# taking: Three of four parts are right and all are views by one index; the third column lost its dimension.
# price: 0.7
# truth: The third column has shape (M,) instead of (M, 1).

def slice_indexing_practice(x):
    last = x[-1, :]
    third = x[:, 2]
    block = x[0:2, 0:3]
    evens_odds = x[0::2, 1::2]
    return last, third, block, evens_odds

# %% slices_by_lists_and_swapped
# taking: Numbers of two parts are right, but lists make copies (no view), and the last part has even and odd the wrong way round: two slips.
# price: 0.45
# truth: Uses index lists for two parts, which copy, and takes odd rows and even columns for the last.

def slice_indexing_practice(x):
    M, N = x.shape
    last_row = x[[M - 1]][0]
    third_col = x[:, [2]]
    upper = x[:2, :3]
    rest = x[1::2, ::2]
    return last_row, third_col, upper, rest

# %% slice_assign_block_off_by_one
# taking: In place, plain numbers, few assignments; but end is taken as inclusive in several slices, so part of the pattern is missing.
# price: 0.5
# truth: Uses 2:5 and 4:5 as if the end were included, so column 5 is never written.

def slice_assignment_practice(x):
    x[0:2, 0] = 0
    x[0:2, 1] = 1
    x[0:2, 2:5] = 2     # columns 2 to 5
    x[2:4, [0, 2]] = 3
    x[2:4, [1, 3]] = 4
    x[2:4, 4:5] = 5     # columns 4 to 5
    return x

# %% shuffle_cols_stack
# taking: Right numbers and a new tensor, but put together column by column; the one integer index was the point of the question.
# price: 0.65
# truth: Uses torch.stack of four single columns instead of one integer-array index.

def shuffle_cols(x):
    c0 = x[:, 0]
    c1 = x[:, 1]
    c2 = x[:, 2]
    return torch.stack((c0, c0, c2, c1), 1)

# %% reverse_rows_negative_range_off
# taking: Right idea with one index, but the list forgets row 0, so the shape is (M-1, N).
# price: 0.5
# truth: range(M-1, 0, -1) stops before 0, so that the first row is missing.

def reverse_rows(x):
    m = x.shape[0]
    order = torch.tensor(list(range(m - 1, 0, -1)), dtype=torch.long)
    return x[order]

# %% one_hot_square_with_loop
# taking: Knows what one-hot is, but loops though none may be, and columns are N instead of max+1 (raises for large classes).
# price: 0.2
# truth: Makes an N by N matrix instead of N by max+1, with a loop that is forbidden.

def make_one_hot(x):
    n = len(x)
    out = torch.zeros(n, n, dtype=torch.float32)
    for i in range(n):
        out[i][x[i]] = 1.0
    return out

# %% sum_positive_counts_mask
# taking: Sums the mask instead of the numbers: it counts. Int, no loop, none-case right by luck; main thing wrong.
# price: 0.35
# truth: Returns how many entries are positive rather than their sum.

def sum_positive_entries(x):
    mask = x > 0
    return int(mask.sum())

# %% sum_positive_through_float
# taking: Logic right, no loops; float32 loses the digits of large numbers and a float is returned instead of an int.
# price: 0.7
# truth: Converts to float32, so large sums are rounded, and returns a Python float.

def sum_positive_entries(x):
    xf = x.float()
    positives = torch.relu(xf)
    return positives.sum().item()

# %% reshape_plain_view
# taking: Only a plain reshape to (3, 8): that was exactly the trap; dtype and view-only come for free.
# price: 0.2
# truth: Reads the numbers in order, without exchanging the blocks.

def reshape_practice(x):
    return x.reshape(3, 8)

# %% zero_row_min_inplace_loop
# taking: Finds the right entries, but with a loop and in the caller's matrix: two rules broken, a third of the points.
# price: 0.65
# truth: Loops over the rows and changes x itself instead of a copy.

def zero_row_min(x):
    for i in range(x.size(0)):
        j = torch.argmin(x[i])
        x[i, j] = 0
    return x

# %% batched_loop_transposed_order
# taking: A true loop with stack, dtype through, but y times x; raises when the sizes do not fit and is wrong otherwise. The loop is half.
# price: 0.5
# truth: Multiplies y[b] by x[b] instead of x[b] by y[b].

def batched_matrix_multiply_loop(x, y):
    prods = []
    for b in range(len(x)):
        prods.append(torch.mm(y[b], x[b]))
    return torch.stack(prods, dim=0)

# %% normalize_by_columns_count
# taking: No mean/std, no loops, well built; but divides by the number of columns where rows were meant: values wrong for all but square.
# price: 0.75
# truth: Takes shape[1] as the number of rows in the mean and in the deviation.

def normalize_columns(x):
    n = x.shape[1]
    mu = torch.sum(x, dim=0) / n
    diff = x - mu
    var_ = torch.sum(diff * diff, dim=0) / (n - 1)
    sigma = torch.sqrt(var_)
    return diff / sigma

# %% mm_gpu_move_forgotten
# taking: Does not keep what cuda() returns, so the product is computed on the CPU; right numbers, but the GPU is the question.
# price: 0.35
# truth: Calls x.cuda() and w.cuda() without using what they return, so the product runs on the CPU.

def mm_on_gpu(x, w):
    x.cuda()
    w.cuda()
    result = x @ w
    return result.cpu()

# %% pi_from_math
# taking: Right shape and filled everywhere, but with the exact pi, which the docstring rules out in so many words; one point only.
# price: 0.4
# truth: Fills with 3.14159... instead of 3.14.

def create_tensor_of_pi(M, N):
    pi = torch.acos(torch.tensor(-1.0)).item()
    return torch.ones(M, N) * pi

# %% take_one_elem_block
# taking: Knows the rows and columns, but two brackets one after the other take a 3 by 3 block: the side-by-side reading was not understood.
# price: 0.4
# truth: x[rows][:, cols] gives a 3 by 3 block instead of three entries, with two indexes.

def take_one_elem_per_col(x):
    rows = [1, 0, 3]
    cols = [0, 1, 2]
    return x[rows][:, cols]

# %% noloop_elementwise
# taking: No loop, and broadcasting is a good thought, but the sum goes over the wrong of the four axes, so it is no matrix product.
# price: 0.5
# truth: Sums over P (last axis) instead of M, so that shape and numbers are wrong.

def batched_matrix_multiply_noloop(x, y):
    big = x.unsqueeze(3) * y.unsqueeze(1)   # (B, N, M, P)
    return big.sum(dim=3)

# %% challenge_mean_padded
# taking: No Python loop and the right idea of padding, but mean over the padded rows divides by the greatest length; ls is never used.
# price: 0.6
# truth: Averages the zero-padded rows over the full width, so shorter tensors have too small a mean.

def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.mean(dim=1)

# %% uniques_last_place
# taking: Uses torch.unique, which earns half; the scatter leaves some place of each value, mostly the last, where the first was asked for.
# price: 0.3
# truth: Writes all places over one another, so that not the first but usually the last remains.

def challenge_get_uniques(x):
    values, inverse = torch.unique(x, return_inverse=True)
    places = torch.zeros(len(values), dtype=torch.int64)
    places[inverse] = torch.arange(len(x))
    return values, places
