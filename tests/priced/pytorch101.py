"""Wrong answers to pytorch101, each with the share of its question's points that a good TA would give."""


# %% sample_swapped_places
# taking: Both numbers are there and so is the shape; the two index pairs are mixed up.
# price: 0.5
# truth: 10 and 100 stand in each other's place.
def create_sample_tensor():
    x = torch.zeros(3, 2)
    x[1, 0] = 10
    x[0, 1] = 100
    return x


# %% sample_transposed
# taking: Shape asked for is (3, 2); everything is transposed.
# price: 0.4
# truth: The tensor has shape (2, 3): rows and columns are swapped.
def create_sample_tensor():
    x = torch.zeros(2, 3)
    x[1, 0] = 10
    x[0, 1] = 100
    return x


# %% mutate_returns_clone
# taking: Writes rightly, but into a copy; the in-place part is the point of the exercise.
# price: 0.5
# truth: It changes and returns a copy instead of x itself.
def mutate_tensor(x, indices, values):
    y = x.clone()
    for (i, j), v in zip(indices, values):
        y[i, j] = v
    return y


# %% mutate_no_return
# taking: Does the work on x; the return is forgotten.
# price: 0.6
# truth: It writes into x but returns nothing.
def mutate_tensor(x, indices, values):
    for i in range(len(indices)):
        x[indices[i][0], indices[i][1]] = values[i]


# %% mutate_first_only
# taking: Returns from within the loop after the first write.
# price: 0.4
# truth: Only the first place is written: return stands inside the loop.
def mutate_tensor(x, indices, values):
    for i in range(len(indices)):
        x[indices[i]] = values[i]
        return x
    return x


# %% mutate_swapped_index
# taking: Row and column swapped when writing.
# price: 0.5
# truth: It writes to (column, row) in place of (row, column).
def mutate_tensor(x, indices, values):
    for (i, j), v in zip(indices, values):
        if j < x.shape[0] and i < x.shape[1]:
            x[j, i] = v
    return x


# %% count_numel
# taking: Right number by the forbidden function, said to be worth half.
# price: 0.5
# truth: It uses numel, which is not allowed.
def count_tensor_elements(x):
    return x.numel()


# %% count_two_dims
# taking: Only works for matrices.
# price: 0.4
# truth: It multiplies the first two sizes alone, so other ranks are wrong.
def count_tensor_elements(x):
    if len(x.shape) == 1:
        return x.shape[0]
    return x.shape[0] * x.shape[1]


# %% count_sum_of_sizes
# taking: Goes through the sizes, but adds them.
# price: 0.4
# truth: It adds the sizes instead of multiplying them.
def count_tensor_elements(x):
    count = 0
    for size in x.shape:
        count += size
    return count


# %% count_tensor_type
# taking: Right number, wrong type.
# price: 0.8
# truth: It returns a tensor and not an int.
def count_tensor_elements(x):
    return torch.prod(torch.tensor(x.shape))


# %% pi_exact
# taking: Reads "pi" and not 3.14.
# price: 0.5
# truth: It fills with math.pi instead of 3.14.
def create_tensor_of_pi(M, N):
    import math
    return torch.full((M, N), math.pi)


# %% pi_transposed
# taking: M and N swapped.
# price: 0.5
# truth: The shape is (N, M) instead of (M, N).
def create_tensor_of_pi(M, N):
    return torch.full((N, M), 3.14)


# %% multiples_end_missing
# taking: Forgets that stop is included.
# price: 0.65
# truth: A multiple of ten at stop is missing.
def multiples_of_ten(start, stop):
    x = torch.arange(start, stop, dtype=torch.float64)
    return x[x % 10 == 0]


# %% multiples_first_missing
# taking: Starts at the next multiple even if start is one.
# price: 0.65
# truth: A multiple of ten at start is missing.
def multiples_of_ten(start, stop):
    first = (start // 10 + 1) * 10
    if first > stop:
        return torch.empty(0, dtype=torch.float64)
    return torch.arange(first, stop + 1, 10, dtype=torch.float64)


# %% multiples_int
# taking: dtype is wrong, all else right.
# price: 0.8
# truth: The dtype is int64 instead of float64.
def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1)
    return x[x % 10 == 0]


# %% multiples_float32
# taking: dtype is wrong, all else right.
# price: 0.8
# truth: The dtype is float32 instead of float64.
def multiples_of_ten(start, stop):
    return torch.tensor([float(i) for i in range(start, stop + 1) if i % 10 == 0])


# %% multiples_by_tens_from_start
# taking: Steps of ten from start, whatever start is.
# price: 0.3
# truth: It counts in tens from start, which need not be a multiple of ten.
def multiples_of_ten(start, stop):
    return torch.arange(start, stop + 1, 10, dtype=torch.float64)


# %% multiples_none_crashes
# taking: Works but for the empty range.
# price: 0.75
# truth: With no multiple in the range it raises an error.
def multiples_of_ten(start, stop):
    first = -(-start // 10) * 10
    return torch.arange(first, stop + 1, 10, dtype=torch.float64)


# %% slices_column_number
# taking: Three of four right; the column lost a dimension.
# price: 0.75
# truth: The third column has shape (M,) instead of (M, 1).
def slice_indexing_practice(x):
    return x[-1, :], x[:, 2], x[:2, :3], x[::2, 1::2]


# %% slices_wrong_column
# taking: Three of four right; counts columns from 1.
# price: 0.75
# truth: The second part is column number 3, the fourth column, instead of the third.
def slice_indexing_practice(x):
    return x[-1], x[:, 3:4], x[:2, :3], x[::2, 1::2]


# %% slices_even_columns
# taking: Three of four right; odd and even mixed up.
# price: 0.75
# truth: The last part takes the even columns instead of the odd ones.
def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[::2, ::2]


# %% slices_last_row_2d
# taking: Three of four right; the last row kept a dimension.
# price: 0.75
# truth: The last row has shape (1, N) instead of (N,).
def slice_indexing_practice(x):
    return x[-1:], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% slices_clones
# taking: All the numbers; not views.
# price: 0.7
# truth: The parts are copies, not views of x.
def slice_indexing_practice(x):
    return x[-1].clone(), x[:, 2:3].clone(), x[:2, :3].clone(), x[::2, 1::2].clone()


# %% slices_two_brackets
# taking: Right views; two parts take two pairs of brackets.
# price: 0.85
# truth: The corner takes two pairs of brackets.
def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2][:, :3], x[::2, 1::2]


# %% slices_one_missing
# taking: Fourth part not done.
# price: 0.65
# truth: Only three of four parts are returned.
def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3]


# %% assignment_alternating_swapped
# taking: One of the blocks has 3 and 4 swapped.
# price: 0.7
# truth: The 3s and 4s are in each other's columns.
def slice_assignment_practice(x):
    x[0:2, 0] = 0
    x[0:2, 1] = 1
    x[0:2, 2:6] = 2
    x[2:4, 1:4:2] = 3
    x[2:4, 0:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assignment_beyond
# taking: Pattern right, overwrites what is right of and below it.
# price: 0.7
# truth: It writes beyond the first four rows and six columns.
def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:] = 2
    x[2:, 0:4:2] = 3
    x[2:, 1:4:2] = 4
    x[2:, 4:] = 5
    return x


# %% assignment_clone
# taking: Pattern right, on a copy.
# price: 0.6
# truth: It writes into a copy; x itself stays as it was.
def slice_assignment_practice(x):
    x = x.clone()
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% assignment_one_forgotten
# taking: Five of six blocks; forgot the 0s since x had zeros in the example.
# price: 0.75
# truth: The zeros in the first column are not written.
def slice_assignment_practice(x):
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, [0, 2]] = 3
    x[2:4, [1, 3]] = 4
    x[2:4, 4:6] = 5
    return x


# %% shuffle_wrong_order
# taking: Right idea; last two columns in the wrong order.
# price: 0.6
# truth: The last two columns are swapped: 0, 0, 1, 2 instead of 0, 0, 2, 1.
def shuffle_cols(x):
    return x[:, [0, 0, 1, 2]]


# %% shuffle_rows
# taking: Indexes rows in place of columns.
# price: 0.4
# truth: It picks rows instead of columns.
def shuffle_cols(x):
    return x[[0, 0, 2, 1]]


# %% shuffle_slices
# taking: Right numbers, by cat of slices; index rule broken.
# price: 0.7
# truth: It joins slices instead of using one integer-array index.
def shuffle_cols(x):
    return torch.cat([x[:, 0:1], x[:, 0:1], x[:, 2:3], x[:, 1:2]], dim=1)


# %% reverse_flip
# taking: Right numbers by the forbidden function.
# price: 0.65
# truth: It uses flip, which is not allowed, and no integer-array index.
def reverse_rows(x):
    return torch.flip(x, [0])


# %% reverse_columns
# taking: Reverses the columns.
# price: 0.5
# truth: It reverses the columns instead of the rows.
def reverse_rows(x):
    return x[:, torch.arange(x.shape[1] - 1, -1, -1)]


# %% reverse_off_by_one
# taking: Index one short.
# price: 0.5
# truth: The first row is missing: the range ends at 1 instead of 0.
def reverse_rows(x):
    return x[torch.arange(x.shape[0] - 1, 0, -1)]


# %% take_lists_swapped
# taking: Row and column lists swapped.
# price: 0.5
# truth: Rows and columns are swapped in the index.
def take_one_elem_per_col(x):
    return x[[0, 1, 2], [1, 0, 2]]


# %% take_grid
# taking: Thinks the lists give a grid, takes the diagonal; by two indexes, yet right numbers.
# price: 0.7
# truth: The numbers are right; it takes two indexes instead of one.
def take_one_elem_per_col(x):
    rows = x[[1, 0, 3]]
    return rows[[0, 1, 2], [0, 1, 2]]


# %% take_wrong_row
# taking: One of three entries wrong.
# price: 0.7
# truth: The last entry is from row 2 instead of row 3.
def take_one_elem_per_col(x):
    return x[[1, 0, 2], [0, 1, 2]]


# %% one_hot_loop
# taking: Right, with a loop.
# price: 0.8
# truth: It uses a loop.
def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    for i, c in enumerate(x):
        y[i, c] = 1
    return y


# %% one_hot_missing_class
# taking: Columns = max instead of max + 1; crashes at the greatest.
# price: 0.5
# truth: There is one column too few, so writing the greatest class raises an IndexError.
def make_one_hot(x):
    y = torch.zeros(len(x), max(x))
    y[torch.arange(len(x)), x] = 1
    return y


# %% one_hot_slice
# taking: A slice for the rows: whole columns become 1.
# price: 0.4
# truth: It sets whole columns to 1, because : selects all rows for each class.
def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[:, x] = 1
    return y


# %% one_hot_int
# taking: dtype wrong.
# price: 0.8
# truth: The dtype is int64 instead of float32.
def make_one_hot(x):
    return torch.nn.functional.one_hot(torch.tensor(x))


# %% sum_positive_tensor
# taking: Returns a tensor.
# price: 0.8
# truth: It returns a tensor and not an int.
def sum_positive_entries(x):
    return x[x > 0].sum()


# %% sum_positive_count
# taking: Counts in place of sums.
# price: 0.4
# truth: It counts the positive entries instead of adding them.
def sum_positive_entries(x):
    return (x > 0).sum().item()


# %% sum_positive_in_place
# taking: Right number, destroys x.
# price: 0.75
# truth: It sets the negative entries of x itself to zero.
def sum_positive_entries(x):
    x[x < 0] = 0
    return x.sum().item()


# %% sum_positive_loop
# taking: Right number with a loop.
# price: 0.75
# truth: It uses a loop.
def sum_positive_entries(x):
    total = 0
    for v in x.flatten().tolist():
        if v > 0:
            total += v
    return total


# %% reshape_plain
# taking: Just a reshape; the point is the transpose.
# price: 0.25
# truth: It only reshapes, so the blocks are not moved.
def reshape_practice(x):
    return x.view(3, 8)


# %% reshape_wrong_blocks
# taking: View and permute are there, the blocks are cut wrongly.
# price: 0.5
# truth: The blocks are cut as (3, 2, 4), so the numbers are in the wrong order.
def reshape_practice(x):
    return x.view(3, 2, 4).transpose(0, 1).reshape(3, 8)


# %% zero_row_min_in_place
# taking: Right result, x is changed.
# price: 0.7
# truth: It changes x itself: the copy is missing.
def zero_row_min(x):
    x[torch.arange(x.shape[0]), x.argmin(dim=1)] = 0
    return x


# %% zero_row_min_columns
# taking: dim mixed up: minimum of each column.
# price: 0.5
# truth: It zeroes the least entry of each column instead of each row.
def zero_row_min(x):
    y = x.clone()
    y[x.argmin(dim=0), torch.arange(x.shape[1])] = 0
    return y


# %% zero_row_min_slice
# taking: Colon for rows: zeroes whole columns.
# price: 0.5
# truth: It zeroes whole columns, because : selects all rows for each place.
def zero_row_min(x):
    y = x.clone()
    y[:, x.argmin(dim=1)] = 0
    return y


# %% zero_row_max
# taking: argmax for argmin.
# price: 0.6
# truth: It zeroes the greatest entry of each row instead of the least.
def zero_row_min(x):
    y = x.clone()
    y[torch.arange(x.shape[0]), x.argmax(dim=1)] = 0
    return y


# %% bmm_loop_float32
# taking: Loop right; result made by torch.zeros, so float32 for float64.
# price: 0.85
# truth: The result is always float32, so float64 inputs lose digits.
def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i] @ y[i]
    return z


# %% bmm_loop_elementwise
# taking: Loop is there; * in place of a product; only for square.
# price: 0.5
# truth: It multiplies the matrices element by element.
def batched_matrix_multiply_loop(x, y):
    z = []
    for i in range(x.shape[0]):
        z.append(x[i] * y[i])
    return torch.stack(z)


# %% bmm_loop_list
# taking: A list of products, stack forgotten.
# price: 0.75
# truth: It returns a list of matrices instead of one tensor.
def batched_matrix_multiply_loop(x, y):
    z = []
    for i in range(x.shape[0]):
        z.append(torch.mm(x[i], y[i]))
    return z


# %% bmm_loop_cat
# taking: cat for stack: shape (B*N, P).
# price: 0.75
# truth: The products are joined by cat, so the shape is (B*N, P) instead of (B, N, P).
def batched_matrix_multiply_loop(x, y):
    return torch.cat([torch.mm(x[i], y[i]) for i in range(x.shape[0])])


# %% bmm_loop_last_missing
# taking: Off by one in the loop.
# price: 0.7
# truth: The last pair is not multiplied: its entry stays zero.
def batched_matrix_multiply_loop(x, y):
    z = x.new_zeros((x.shape[0], x.shape[1], y.shape[2]))
    for i in range(x.shape[0] - 1):
        z[i] = torch.mm(x[i], y[i])
    return z


# %% bmm_noloop_loops
# taking: Right product with a loop: the rule is said to be half.
# price: 0.5
# truth: It uses a loop.
def batched_matrix_multiply_noloop(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)])


# %% bmm_noloop_float
# taking: One batched product; casts to float32.
# price: 0.85
# truth: It converts to float32, so float64 inputs come back as float32.
def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x.float(), y.float())


# %% bmm_noloop_transposed
# taking: einsum with the output's letters swapped.
# price: 0.65
# truth: Each product is transposed: shape (B, P, N) instead of (B, N, P).
def batched_matrix_multiply_noloop(x, y):
    return torch.einsum("bnm,bmp->bpn", x, y)


# %% normalize_by_m
# taking: All right but for the M - 1.
# price: 0.7
# truth: The standard deviation divides by M instead of M - 1.
def normalize_columns(x):
    M = x.shape[0]
    mu = x.sum(dim=0) / M
    sigma = (((x - mu) ** 2).sum(dim=0) / M).sqrt()
    return (x - mu) / sigma


# %% normalize_no_root
# taking: Variance used as standard deviation.
# price: 0.65
# truth: The square root is missing: it divides by the variance.
def normalize_columns(x):
    M = x.shape[0]
    mu = x.sum(dim=0) / M
    var = ((x - mu) ** 2).sum(dim=0) / (M - 1)
    return (x - mu) / var


# %% normalize_rows
# taking: Works along the wrong dimension; formula right, rule kept.
# price: 0.55
# truth: It normalizes the rows instead of the columns.
def normalize_columns(x):
    N = x.shape[1]
    mu = x.sum(dim=1, keepdim=True) / N
    sigma = (((x - mu) ** 2).sum(dim=1, keepdim=True) / (N - 1)).sqrt()
    return (x - mu) / sigma


# %% normalize_divides_by_n
# taking: The classical mix-up M for N; else right.
# price: 0.6
# truth: It divides by the number of columns instead of rows.
def normalize_columns(x):
    M, N = x.shape
    mu = x.sum(dim=0) / N
    sigma = (((x - mu) ** 2).sum(dim=0) / (N - 1)).sqrt()
    return (x - mu) / sigma


# %% normalize_mean_std
# taking: Right values with the forbidden functions; rule is half.
# price: 0.5
# truth: It uses mean and std, which are not allowed.
def normalize_columns(x):
    return (x - x.mean(dim=0)) / x.std(dim=0)


# %% normalize_centred_only
# taking: Half of the work: the mean is taken away, no scaling.
# price: 0.45
# truth: The columns are centred, but not divided by the standard deviation.
def normalize_columns(x):
    mu = x.sum(dim=0) / x.shape[0]
    return x - mu


# %% normalize_in_place
# taking: Right but for changing x.
# price: 0.85
# truth: It changes x itself.
def normalize_columns(x):
    M = x.shape[0]
    x -= x.sum(dim=0) / M
    x /= ((x ** 2).sum(dim=0) / (M - 1)).sqrt()
    return x


# %% gpu_forgot_back
# taking: On the GPU, never comes back.
# price: 0.75
# truth: The result stays on the GPU.
def mm_on_gpu(x, w):
    return x.cuda().mm(w.cuda())


# %% gpu_on_cpu
# taking: Computes on the CPU: the point is missed.
# price: 0.25
# truth: The product is computed on the CPU.
def mm_on_gpu(x, w):
    x.cuda()
    w.cuda()
    return x.mm(w)


# %% gpu_one_operand
# taking: Moves one operand only: device error.
# price: 0.4
# truth: w stays on the CPU, so the product raises a device error.
def mm_on_gpu(x, w):
    x = x.cuda()
    y = x.mm(w)
    return y.cpu()


# %% means_loop
# taking: Right means with a loop: half.
# price: 0.5
# truth: It uses a loop.
def challenge_mean_tensors(xs, ls):
    return torch.stack([x.mean() for x in xs])


# %% means_by_max_length
# taking: Pads without a loop, then divides by the padded length.
# price: 0.65
# truth: It divides by the greatest length instead of each tensor's own.
def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.mean(dim=1)


# %% means_nonzero
# taking: Takes zeros for padding, which the handout warns about.
# price: 0.65
# truth: It counts the nonzero entries, so zeros in the data are left out.
def challenge_mean_tensors(xs, ls):
    padded = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return padded.sum(dim=1) / (padded != 0).sum(dim=1)


# %% means_sums
# taking: Sums; division forgotten.
# price: 0.6
# truth: It returns sums: the division by the lengths is missing.
def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return torch.zeros(len(xs)).index_add(0, owner, torch.cat(xs))


# %% uniques_unique_last
# taking: torch.unique (half); the places are the last, not the first.
# price: 0.35
# truth: It uses torch.unique, and gives the last place of each value instead of the first.
def challenge_get_uniques(x):
    values, inverse = torch.unique(x, return_inverse=True)
    places = torch.empty(len(values), dtype=torch.int64)
    places[inverse] = torch.arange(len(x))
    return values, places


# %% uniques_loop
# taking: Right with a loop; no torch.unique.
# price: 0.5
# truth: It uses a loop.
def challenge_get_uniques(x):
    seen = {}
    for i, v in enumerate(x.tolist()):
        if v not in seen:
            seen[v] = i
    return torch.tensor(list(seen.keys())), torch.tensor(list(seen.values()))


# %% uniques_values_only
# taking: Values right by sorting; no places.
# price: 0.5
# truth: It returns the values alone; the places are missing.
def challenge_get_uniques(x):
    ordered = torch.sort(x).values
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


# %% uniques_unstable
# taking: Sort is not stable: right for small inputs, the hint warned.
# price: 0.75
# truth: The sort is not stable, so the place need not be the first one.
def challenge_get_uniques(x):
    ordered, places = torch.sort(x, descending=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first]
