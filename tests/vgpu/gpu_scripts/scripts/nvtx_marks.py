"""NVTX ranges and torch.cuda.profiler around steps."""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(3, device=device)
if device == "cuda":
    torch.cuda.nvtx.range_push("step")
    torch.cuda.profiler.start()
    with torch.cuda.nvtx.range("forward"), torch.autograd.profiler.emit_nvtx():
        x = x * 2
    torch.cuda.nvtx.mark("done")
    torch.cuda.profiler.stop()
    torch.cuda.nvtx.range_pop()
else:
    x = x * 2
print("x", *x.tolist())
