# Prints what it computes, and measures memory and time on the way.
# expect:
#   questions:
#     "*": {status: passed}

import gc

import torch


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
