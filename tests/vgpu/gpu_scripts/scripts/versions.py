"""What programs print or ask about torch's build and the GPU."""

import torch

if torch.cuda.is_available():
    assert int(torch.version.cuda.split(".")[0]) >= 11
    assert torch.cuda.nccl.version() >= (2, 10)
    assert torch.backends.cudnn.is_available() and torch.backends.cudnn.version() > 8000
    assert torch.backends.cuda.is_built() and torch.distributed.is_nccl_available()
    print(torch.cuda.get_device_name(0), torch.cuda.get_device_capability())
    properties = torch.cuda.get_device_properties(0)
    print(properties.total_memory, properties.multi_processor_count, properties.major)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    assert torch.cuda.is_bf16_supported()
    print(torch.cuda.get_arch_list(), torch.cuda.device_count(), torch.cuda.current_device())
device = torch.accelerator.current_accelerator() if torch.cuda.is_available() else "cpu"
print("sum", torch.ones(3, device=device).sum().item())
