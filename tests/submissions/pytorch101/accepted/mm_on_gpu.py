# Right ways to write mm_on_gpu. docs/authoring.md explains the cells.

import torch


# %% gpu_beside_another
# One operand is moved to where the other is.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    there = x.cuda(0)
    return w.to(there).t().mm(there.t()).t().to(x.device)


# %% gpu_broadcast
# By broadcasting and a sum, on the GPU.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    return (x.cuda()[:, :, None] * w.cuda()[None]).sum(1).cpu()


# %% gpu_by_names
# Devices by string, by number and by torch.device.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    device = torch.device("cuda", 0)
    return (x.to("cuda:0") @ w.to(device)).to("cpu")


# %% gpu_device_contexts
# Inside device contexts, which change nothing for tensors that exist.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    with torch.cuda.device(0), torch.device("cuda"):
        product = torch.zeros(x.shape[0], w.shape[1], dtype=x.dtype)
        product += torch.mm(x.cuda(), w.cuda())
    torch.cuda.synchronize()
    return product.cpu()


# %% gpu_einsum
# As a sum over an index.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    return torch.einsum("ij,jk->ik", x.cuda(), w.cuda()).cpu()


# %% gpu_if_there_is_one
# Goes on without a GPU where there is none, by asking for it.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.mm(x.to(device), w.to(device)).cpu()


# %% gpu_linear
# As a linear layer without a bias.
# expect:
#   questions:
#     "*": {status: passed}

import torch.nn.functional as F


def mm_on_gpu(x, w):
    return F.linear(x.cuda(), w.cuda().T).cpu()


# %% gpu_looks_at_it
# Prints what it computes, and measures memory and time on the way.
# expect:
#   questions:
#     "*": {status: passed}

import gc


def mm_on_gpu(x, w):
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    product = x.cuda() @ w.cuda()
    end.record()
    end.synchronize()
    print(product, product.sum().item(), torch.cuda.max_memory_allocated(), start.elapsed_time(end))
    gc.collect()
    return product.cpu()


# %% gpu_one_copy
# Both matrices travel in one copy.
# expect:
#   questions:
#     mm_on_gpu: {status: passed}
#     "*": {status: passed}

def mm_on_gpu(x, w):
    n = x.shape[0]
    both = torch.cat([x, w.t()]).cuda()
    return (both[:n] @ both[n:].t()).cpu()


# %% gpu_pinned_memory
# Through page-locked memory, without waiting, into a tensor made beforehand.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    x = x.pin_memory().to("cuda", non_blocking=True)
    w = w.pin_memory().to("cuda", non_blocking=True)
    product = torch.empty(x.shape[0], w.shape[1], dtype=x.dtype, device=x.device)
    torch.mm(x, w, out=product)
    result = torch.empty(product.shape, dtype=product.dtype)
    return result.copy_(product)


# %% gpu_through_numpy_and_back
# Inputs and product take ways through NumPy and lists.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    x = torch.tensor(x.tolist(), dtype=x.dtype, device="cuda")
    w = torch.as_tensor(w.numpy().copy()).cuda()
    return torch.from_numpy((x @ w).cpu().numpy())


# %% gpu_through_a_list
# The product leaves the GPU as a list of numbers.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    return torch.tensor((x.cuda() @ w.cuda()).tolist(), dtype=x.dtype)


# %% gpu_try_except
# Goes on without a GPU where there is none, by trying. With one, it is used.
# expect:
#   questions:
#     "*": {status: passed}

def mm_on_gpu(x, w):
    try:
        return torch.mm(x.cuda(), w.cuda()).cpu()
    except (RuntimeError, AssertionError):
        return torch.mm(x, w)
