"""What autocast casts, and that autocast("cpu") leaves CUDA tensors alone."""

import torch
import torch.nn.functional as F
from torch import nn

if torch.cuda.is_available():
    a, half = torch.ones(3, 3, device="cuda"), torch.ones(3, 3, device="cuda").half()
    host = torch.ones(3, 3)
    with torch.autocast("cuda"):
        assert (a @ a).dtype is torch.float16
        assert (half + a).dtype is torch.float32
        assert half.exp().dtype is half.softmax(0).dtype is half.sum().dtype is torch.float32
        assert half.norm().dtype is torch.norm(half, dim=1).dtype is torch.float32
        assert torch.addcmul(half, half, a).dtype is torch.float32
        assert nn.LSTM(3, 4).cuda()(a)[0].dtype is torch.float16
        assert (host @ host).dtype is torch.float32
        with torch.autocast("cuda", enabled=False):
            assert (a @ a).dtype is torch.float32
        with torch.autocast("cuda", dtype=torch.bfloat16):
            assert (a @ a).dtype is torch.bfloat16
        try:
            F.binary_cross_entropy(a.sigmoid(), a)
        except RuntimeError as error:
            assert "unsafe to autocast" in str(error)
        else:
            raise AssertionError("binary_cross_entropy must be refused")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (a @ a).dtype is torch.float32
        assert (host @ host).dtype is torch.bfloat16
        assert torch.is_autocast_enabled("cpu")
        assert not torch.is_autocast_enabled("cuda")
    assert (a @ a).dtype is torch.float32
print("done", 1)
