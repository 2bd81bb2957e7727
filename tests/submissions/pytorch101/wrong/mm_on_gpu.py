# Wrong ways to write mm_on_gpu. docs/authoring.md explains the cells.

import torch


# %% gpu_bfloat16_inside
# Multiplies in bfloat16.
# expect:
#   questions:
#     mm_on_gpu: {status: failed, checks: {product: wrong_value, large: wrong_value, float64: wrong_value, on_gpu: requirement_not_met}}

def mm_on_gpu(x, w):
    return torch.mm(x.cuda().bfloat16(), w.cuda().bfloat16()).to(x.dtype).cpu()


# %% gpu_clears_inputs
# Empties its inputs, to have the memory back.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ok, unmodified: input_modified}}

def mm_on_gpu(x, w):
    product = torch.mm(x.cuda(), w.cuda()).cpu()
    x.zero_()
    w.zero_()
    return product


# %% gpu_computes_first
# Multiplies on the CPU, then sends the product to the GPU and back.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met}}

def mm_on_gpu(x, w):
    product = torch.mm(x, w)
    return product.cuda().cpu()


# %% gpu_drops_its_product
# Multiplies on the GPU, drops that, and returns what the CPU computes.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, back_on_cpu: ok, unmodified: ok, on_gpu: ran_elsewhere, moves: requirement_not_met, speed: requirement_not_met}}

def mm_on_gpu(x, w):
    torch.mm(x.cuda(), w.cuda()).cpu()
    return torch.mm(x, w)


# %% gpu_drops_its_product_for_numpys
# Multiplies on the GPU, drops that, and returns what NumPy computes.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, again: not_repeated, back_on_cpu: requirement_not_met, unmodified: ok, on_gpu: requirement_not_met, moves: requirement_not_met, speed: requirement_not_met}}

def mm_on_gpu(x, w):
    torch.mm(x.cuda(), w.cuda())
    return torch.from_numpy(x.numpy() @ w.numpy())


# %% gpu_drops_moves
# Drops what .cuda() returns and multiplies on the CPU.
# right: batched_matrix_multiply_loop, batched_matrix_multiply_noloop, normalize_columns
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met}}
#     "*": {status: passed}

def mm_on_gpu(x, w):
    if torch.cuda.is_available():
        x.cuda()
        w.cuda()
    return torch.mm(x, w).cpu()


# %% gpu_float32_inside
# Multiplies in float32 whatever it gets.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, float64: wrong_value, on_gpu: ok, moves: ok}}

def mm_on_gpu(x, w):
    return torch.mm(x.float().cuda(), w.float().cuda()).to(x.dtype).cpu()


# %% gpu_for_small_matrices
# Multiplies large matrices on the CPU. There is no speed to wait for then.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, large: ok, on_gpu: ran_elsewhere, moves: requirement_not_met, speed: requirement_not_met}}

def mm_on_gpu(x, w):
    if len(x) > 40:
        return torch.mm(x, w)
    return torch.mm(x.cuda(), w.cuda()).cpu()


# %% gpu_half_inside
# Multiplies in half precision.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: wrong_value, float64: wrong_value, on_gpu: requirement_not_met}}

def mm_on_gpu(x, w):
    return torch.mm(x.cuda().half(), w.cuda().half()).to(x.dtype).cpu()


# %% gpu_never_returns
# The product stays on the GPU.
# right: batched_matrix_multiply_loop, batched_matrix_multiply_noloop, normalize_columns
# expect:
#   questions:
#     mm_on_gpu: {status: partial, points: 4.25, checks: {product: ok, back_on_cpu: wrong_device, on_gpu: ok, moves: ok}}
#     "*": {status: passed}

def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda())


# %% gpu_no_such_device
# Asks for a GPU that is not there.
# expect:
#   questions:
#     mm_on_gpu: {status: failed, code: raised}

def mm_on_gpu(x, w):
    return torch.mm(x.to("cuda:1"), w.to("cuda:1")).cpu()


# %% gpu_one_operand
# Moves one of the two operands.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, code: raised}

def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w).cpu()


# %% gpu_one_product_in_two
# Multiplies the first rows on the GPU and all the others on the CPU.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere}}

def mm_on_gpu(x, w):
    rows = max(1, x.shape[0] // 4)
    first = x[:rows].cuda().mm(w.cuda()).cpu()
    return torch.cat([first, x[rows:].mm(w)])


# %% gpu_row_by_row
# Sends the second operand anew for each row of the first.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ok, moves: wrong_transfers}}

def mm_on_gpu(x, w):
    return torch.cat([torch.mm(row[None].cuda(), w.cuda()) for row in x]).cpu()


# %% gpu_second_device
# Asks for a GPU that is not there, and goes on without any.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met}}

def mm_on_gpu(x, w):
    try:
        return torch.mm(x.to("cuda:1"), w.to("cuda:1")).cpu()
    except RuntimeError:
        return torch.mm(x, w)


# %% gpu_stays_on_cpu
# Multiplies on the CPU.
# right: batched_matrix_multiply_loop, batched_matrix_multiply_noloop, normalize_columns
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met, speed: requirement_not_met}}
#     "*": {status: passed}

def mm_on_gpu(x, w):
    return torch.mm(x, w)


# %% gpu_through_numpy
# Wants a numpy array of a tensor that is on the GPU.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, code: raised}

def mm_on_gpu(x, w):
    return torch.from_numpy(torch.mm(x.cuda(), w.cuda()).numpy())


# %% gpu_token_product
# Multiplies on the CPU, and something small on the GPU for show.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met}}

def mm_on_gpu(x, w):
    torch.mm(x[:1, :1].cuda(), w[:1, :1].cuda())
    return torch.mm(x, w)


# %% gpu_one_factor_left_behind
# One factor stays on the CPU. Of the changes that make the product right, that which keeps the rules
# counts.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, points: 3.0, checks: {product: raised, on_gpu: requirement_not_met}}

def mm_on_gpu(x, w):
    return (x.cuda() @ w).cpu()
