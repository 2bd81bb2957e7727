"""Memory: summary, statistics, history, limits."""

import torch

if torch.cuda.is_available():
    torch.cuda.memory._record_memory_history(max_entries=1000)
    torch.cuda.reset_peak_memory_stats()
    x = torch.zeros(1024, 1024, device="cuda")
    y = x + 1
    del y
    assert torch.cuda.memory_allocated() == 4 * 2**20
    assert torch.cuda.max_memory_allocated() == 8 * 2**20
    summary = torch.cuda.memory_summary(abbreviated=True)
    assert "PyTorch CUDA memory summary" in summary and "4096 KiB" in summary
    statistics = torch.cuda.memory_stats()
    assert statistics["allocated_bytes.all.current"] == 4 * 2**20
    assert statistics["num_ooms"] == 0
    snapshot = torch.cuda.memory._snapshot()
    assert [entry["action"] for entry in snapshot["device_traces"][0]] == [
        "alloc", "alloc", "free_completed",
    ]  # fmt: skip
    torch.cuda.memory._record_memory_history(enabled=None)
    free, total = torch.cuda.mem_get_info()
    assert total - free == 4 * 2**20
    torch.cuda.empty_cache()
print("done", 1)
