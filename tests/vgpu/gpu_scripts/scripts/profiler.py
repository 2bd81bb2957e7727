"""torch.profiler around a training loop, with a schedule."""

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = nn.Linear(8, 8).to(device)
activities = [ProfilerActivity.CPU]
if device == "cuda":
    activities.append(ProfilerActivity.CUDA)
with profile(
    activities=activities, schedule=schedule(wait=1, warmup=1, active=2), record_shapes=True,
    profile_memory=True,
) as profiler:  # fmt: skip
    for _ in range(4):
        with record_function("step"):
            out = net(torch.ones(2, 8, device=device)).sum()
            out.backward()
        profiler.step()
key = f"self_{device}_time_total"
table = profiler.key_averages().table(sort_by="cpu_time_total")
assert "aten::" in table
assert "step" in [event.key for event in profiler.key_averages()]
print("out", out.item())
