# Known mistakes of pytorch101. docs/authoring.md explains the cells.

import torch


# %% sample_swapped
# says: The two numbers are in each other's places: 10 belongs in row 0, column 1.
# says-ko: 두 수의 자리가 서로 바뀌었습니다. 10은 0행 1열에 있어야 합니다.

def create_sample_tensor():
    x = torch.zeros(3, 2)
    x[1, 0] = 10
    x[0, 1] = 100
    return x


# %% mutate_adds
# says: You added the values to what was there; they are to replace it.
# says-ko: 있던 값에 더했습니다. 더하지 말고 그 값으로 바꾸어야 합니다.
# earns: 0.5

def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] += value
    return x


# %% count_adds_sizes
# says: You added the sizes; the number of elements is their product.
# says-ko: 크기를 더했습니다. 원소의 수는 크기의 곱입니다.
# earns: 0.9
# voids: no_numel

def count_tensor_elements(x):
    return sum(x.shape)


# %% count_rows
# says: You counted the rows alone: len(x) and x.shape[0] are the first size.
# says-ko: 행만 세었습니다. len(x)와 x.shape[0]은 첫 번째 크기입니다.
# earns: 0.2
# voids: no_numel

def count_tensor_elements(x):
    return len(x)


# %% pi_columns_first
# says: Rows and columns are swapped: M is the number of rows.
# says-ko: 행과 열이 바뀌었습니다. M이 행의 수입니다.

def create_tensor_of_pi(M, N):
    return torch.full((N, M), 3.14)


# %% pi_exact
# says: You filled it with a more exact pi; the number asked for is 3.14.
# says-ko: 더 정확한 원주율로 채웠습니다. 요구한 수는 3.14입니다.

def create_tensor_of_pi(M, N):
    return torch.full((M, N), torch.pi)


# %% multiples_exclusive_stop
# says: A stop that is a multiple of ten is missing: torch.arange and range leave their end out.
# says-ko: stop이 10의 배수일 때 빠졌습니다. torch.arange와 range는 끝을 포함하지 않습니다.
# earns: 0.5

def multiples_of_ten(start, stop):
    x = torch.arange(start, stop, dtype=torch.float64)
    return x[x % 10 == 0]


# %% multiples_from_below
# says: The list may begin with the multiple of ten below start; the first one is start or above it.
# says-ko: start보다 작은 10의 배수로 시작합니다. 첫 수는 start 이상이어야 합니다.
# earns: 0.5

def multiples_of_ten(start, stop):
    return torch.arange(start // 10 * 10, stop + 1, 10, dtype=torch.float64)


# %% multiples_from_start
# says: You counted in tens from start on; multiples of ten end in 0.
# says-ko: start에서 10씩 세었습니다. 10의 배수는 0으로 끝납니다.
# earns: 0.3

def multiples_of_ten(start, stop):
    return torch.arange(start, stop + 1, 10, dtype=torch.float64)


# %% slices_odd_and_even
# says: The fourth part has the rows with odd and the columns with even numbers; it is the other way round.
# says-ko: 네 번째 부분이 홀수 행과 짝수 열입니다. 반대로 짝수 행과 홀수 열이어야 합니다.
# earns: 0.75

def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[1::2, ::2]


# %% slices_third_row
# says: The first part is row 2, which is the last row only where there are three.
# says-ko: 첫 부분이 2행입니다. 행이 셋일 때만 마지막 행입니다.
# earns: 0.75

def slice_indexing_practice(x):
    return x[2], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% slices_column_flat
# says: The third column comes with shape (M,): a number in the brackets removes a dimension, a slice
#   keeps it.
# says-ko: 세 번째 열의 shape이 (M,)입니다. 대괄호 안의 수는 차원을 없애고 slice는 남깁니다.
# earns: 0.75

def slice_indexing_practice(x):
    return x[-1], x[:, 2], x[:2, :3], x[::2, 1::2]


# %% assign_to_the_last_column
# says: You wrote up to the last column; the pattern ends with column 5.
# says-ko: 마지막 열까지 썼습니다. 무늬는 5열에서 끝납니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:] = 5
    return x


# %% assign_to_the_last_row
# says: You wrote down to the last row; the pattern ends with row 3.
# says-ko: 마지막 행까지 썼습니다. 무늬는 3행에서 끝납니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:, 0:4:2] = 3
    x[2:, 1:4:2] = 4
    x[2:, 4:6] = 5
    return x


# %% assign_zero_omitted
# says: The zeros in column 0 of the pattern are missing: what stood there is left.
# says-ko: 무늬의 0열에 0이 빠졌습니다. 있던 값이 남아 있습니다.
# earns: 0.7

def slice_assignment_practice(x):
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x


# %% shuffle_in_order
# says: You took columns 0, 0, 1, 2; column 2 comes before column 1.
# says-ko: 0, 0, 1, 2열을 가져왔습니다. 2열이 1열보다 먼저입니다.
# earns: 0.5

def shuffle_cols(x):
    return x[:, [0, 0, 1, 2]]


# %% shuffle_rows
# says: You picked rows: the list belongs behind the comma, x[:, [...]].
# says-ko: 행을 골랐습니다. 목록은 쉼표 뒤에 옵니다: x[:, [...]].
# earns: 0.4

def shuffle_cols(x):
    return x[[0, 0, 2, 1]]


# %% reverse_columns
# says: You reversed the columns; the rows are to be reversed.
# says-ko: 열을 뒤집었습니다. 뒤집을 것은 행입니다.
# earns: 0.4

def reverse_rows(x):
    return x[:, list(range(x.shape[1] - 1, -1, -1))]


# %% reverse_misses_a_row
# says: Row 0 is missing at the end: a range such as range(M - 1, 0, -1) stops before 0.
# says-ko: 끝에 0행이 빠졌습니다. range(M - 1, 0, -1) 같은 범위는 0 앞에서 끝납니다.
# earns: 0.6

def reverse_rows(x):
    return x[list(range(x.shape[0] - 1, 0, -1))]


# %% take_first_rows
# says: You took rows 0, 1 and 2; rows 1, 0 and 3 are asked for.
# says-ko: 0, 1, 2행을 가져왔습니다. 요구한 것은 1, 0, 3행입니다.
# earns: 0.5

def take_one_elem_per_col(x):
    return x[[0, 1, 2], [0, 1, 2]]


# %% take_block
# says: Two indices one after the other pick a block of nine; put both lists into one pair of brackets.
# says-ko: 인덱스를 차례로 두 번 쓰면 아홉 개를 고릅니다. 두 목록을 한 쌍의 대괄호 안에 쓰세요.
# earns: 0.4

def take_one_elem_per_col(x):
    return x[[1, 0, 3]][:, [0, 1, 2]]


# %% hot_whole_columns
# says: Every row has a one in the columns of all classes; name the rows beside the columns in the index.
# says-ko: 모든 행에서 모든 번호의 열이 1입니다. 인덱스에 열과 함께 행도 쓰세요.
# earns: 0.4

def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[:, x] = 1
    return y


# %% sum_counts
# says: You counted the positive numbers; their sum is asked for.
# says-ko: 양수의 개수를 세었습니다. 요구한 것은 합입니다.
# earns: 0.25

def sum_positive_entries(x):
    return (x > 0).sum().item()


# %% sum_everything
# says: You added up all numbers, the negative ones too.
# says-ko: 음수까지 모든 수를 더했습니다.
# earns: 0.2

def sum_positive_entries(x):
    return x.sum().item()


# %% reshape_only
# says: You only changed the shape: the numbers are still in the order in which they came.
# says-ko: shape만 바꾸었습니다. 수의 순서는 처음 그대로입니다.
# earns: 0.1

def reshape_practice(x):
    return x.reshape(3, 8)


# %% reshape_three_dimensions
# says: The result still has three dimensions: the last step, joining the blocks, is missing.
# says-ko: 결과가 아직 3차원입니다. 블록을 잇는 마지막 단계가 빠졌습니다.
# earns: 0.6

def reshape_practice(x):
    return x.view(2, 3, 4).transpose(0, 1)


# %% min_in_place
# says: The values are right, but x itself was changed: copy it first (x.clone()).
# says-ko: 값은 맞지만 x가 바뀌었습니다. 먼저 복사하세요(x.clone()).
# earns: 0

def zero_row_min(x):
    x[torch.arange(x.shape[0]), x.argmin(dim=1)] = 0
    return x


# %% min_of_columns
# says: You set the least entry of each column to zero; argmin(dim=1) finds that of each row.
# says-ko: 각 열의 최솟값을 0으로 만들었습니다. 각 행의 최솟값은 argmin(dim=1)이 찾습니다.
# earns: 0.5

def zero_row_min(x):
    y = x.clone()
    y[x.argmin(dim=0), torch.arange(x.shape[1])] = 0
    return y


# %% min_whole_columns
# says: Every column that holds some row's least entry is zero throughout: the index names all rows, not
#   each row beside its column.
# says-ko: 어떤 행의 최솟값이 있는 열이 모두 0입니다. 인덱스가 행마다 제 열이 아니라 모든 행을 가리킵니다.
# earns: 0.5

def zero_row_min(x):
    y = x.clone()
    y[:, x.argmin(dim=1)] = 0
    return y


# %% min_of_everything
# says: One entry of the whole matrix is zero: argmin and min without dim look at all numbers at once.
# says-ko: 행렬 전체에서 하나만 0입니다. dim 없는 argmin과 min은 모든 수를 한꺼번에 봅니다.
# earns: 0.4

def zero_row_min(x):
    y = x.clone()
    y[y == y.min()] = 0
    return y


# %% loop_loses_float64
# says: float64 is lost on the way; torch.zeros(...) without a dtype, for one, makes float32.
# says-ko: 도중에 float64를 잃었습니다. 예를 들어 dtype 없는 torch.zeros(...)는 float32를 만듭니다.
# earns: 0

def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i].mm(y[i])
    return z


# %% loop_keeps_last
# says: Only the last product comes back: keep the products of all turns.
# says-ko: 마지막 곱만 돌려줍니다. 모든 차례의 곱을 모으세요.
# earns: 0.8
# voids: loop

def batched_matrix_multiply_loop(x, y):
    for i in range(x.shape[0]):
        z = x[i].mm(y[i])
    return z


# %% noloop_transposed
# says: Each product comes back transposed.
# says-ko: 곱이 모두 전치되어 나옵니다.
# earns: 0.6

def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y).transpose(1, 2)


# %% normalize_by_m
# says: You divided the sum of the squares by M; the divisor is M - 1.
# says-ko: 제곱의 합을 M으로 나누었습니다. 나눌 수는 M - 1입니다.
# earns: 0.5

def normalize_columns(x):
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    std = (((x - mean) ** 2).sum(dim=0) / m).sqrt()
    return (x - mean) / std


# %% normalize_by_columns
# says: You divided by N and N - 1, with the number of columns; a column has M numbers.
# says-ko: 열의 수 N과 N - 1로 나누었습니다. 한 열에는 수가 M개 있습니다.
# earns: 0.3

def normalize_columns(x):
    n = x.shape[1]
    mean = x.sum(dim=0) / n
    std = (((x - mean) ** 2).sum(dim=0) / (n - 1)).sqrt()
    return (x - mean) / std


# %% normalize_squares_by_columns
# says: You divided the sum of the squares by N - 1, with the number of columns; the divisor is M - 1.
# says-ko: 제곱의 합을 열의 수로 N - 1로 나누었습니다. 나눌 수는 M - 1입니다.
# earns: 0.4

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    std = (((x - mean) ** 2).sum(dim=0) / (x.shape[1] - 1)).sqrt()
    return (x - mean) / std


# %% normalize_squares_by_n
# says: You divided the sum of the squares by N, the number of columns; the divisor is M - 1.
# says-ko: 제곱의 합을 열의 수 N으로 나누었습니다. 나눌 수는 M - 1입니다.
# earns: 0.3

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    std = (((x - mean) ** 2).sum(dim=0) / x.shape[1]).sqrt()
    return (x - mean) / std


# %% normalize_by_variance
# says: You divided by the variance: the square root is missing.
# says-ko: 분산으로 나누었습니다. 제곱근이 빠졌습니다.
# earns: 0.4

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


# %% normalize_centres_only
# says: You subtracted the mean, but did not divide by the standard deviation.
# says-ko: 평균은 뺐지만 표준편차로 나누지 않았습니다.
# earns: 0.75
# voids: no_mean_or_std

def normalize_columns(x):
    return x - x.sum(dim=0) / x.shape[0]


# %% normalize_scales_only
# says: You divided by the standard deviation, but did not subtract the mean.
# says-ko: 표준편차로 나누었지만 평균을 빼지 않았습니다.
# earns: 0.2

def normalize_columns(x):
    mean = x.sum(dim=0) / x.shape[0]
    return x / (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1)).sqrt()


# %% normalize_rows
# says: You normalised the rows: sum along dim=0 for one number a column.
# says-ko: 행을 정규화했습니다. 열마다 한 수가 되려면 dim=0으로 더하세요.
# earns: 0.2

def normalize_columns(x):
    n = x.shape[1]
    mean = x.sum(dim=1, keepdim=True) / n
    std = (((x - mean) ** 2).sum(dim=1, keepdim=True) / (n - 1)).sqrt()
    return (x - mean) / std


# %% normalize_whole
# says: You used one mean and one deviation for the whole matrix; each column has its own.
# says-ko: 행렬 전체에 평균 하나와 표준편차 하나를 썼습니다. 열마다 따로 구해야 합니다.
# earns: 0.2

def normalize_columns(x):
    n = x.numel()
    mean = x.sum() / n
    return (x - mean) / (((x - mean) ** 2).sum() / (n - 1)).sqrt()


# %% gpu_never_returns
# says: The product is still on the GPU: bring it back with .cpu().
# says-ko: 곱이 아직 GPU에 있습니다. .cpu()로 가져오세요.
# earns: 0

def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda())


# %% means_by_greatest_length
# says: You divided by the length of the longest tensor: the padding was counted.
# says-ko: 가장 긴 텐서의 길이로 나누었습니다. 채워 넣은 것까지 세었습니다.
# earns: 0.5

def challenge_mean_tensors(xs, ls):
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True).mean(dim=1)


# %% means_sums
# says: These are the sums: they are not divided by the lengths.
# says-ko: 합입니다. 길이로 나누지 않았습니다.
# earns: 0.5

def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return torch.zeros(len(xs)).index_add(0, owner, torch.cat(xs))


# %% uniques_last_place
# says: The places are where each value comes last; where it comes first is asked for.
# says-ko: 각 값이 마지막으로 나오는 자리입니다. 요구한 것은 처음 나오는 자리입니다.
# earns: 0.6

def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    last = torch.ones_like(ordered, dtype=torch.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[last], places[last]


# %% uniques_counts
# says: The second tensor tells how often each value comes; where it comes first is asked for.
# says-ko: 두 번째 텐서가 각 값의 개수입니다. 요구한 것은 처음 나오는 자리입니다.
# earns: 0.3

def challenge_get_uniques(x):
    return torch.unique(x, return_counts=True)


# %% uniques_inverse
# says: The second tensor is torch.unique's inverse: for each number, which value it is; the place where
#   each value comes first is asked for.
# says-ko: 두 번째 텐서가 torch.unique의 inverse입니다. 요구한 것은 각 값이 처음 나오는 자리입니다.
# earns: 0.3

def challenge_get_uniques(x):
    return torch.unique(x, return_inverse=True)
