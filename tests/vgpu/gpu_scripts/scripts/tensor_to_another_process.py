"""A CUDA tensor through a queue to another process, which shares its memory."""

import torch
import torch.multiprocessing as mp


def double(queue, done):
    tensor = queue.get()
    tensor.mul_(2)
    done.put(str(tensor.device))
    del tensor


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    context = mp.get_context("spawn")
    queue, done = context.Queue(), context.Queue()
    process = context.Process(target=double, args=(queue, done))
    process.start()
    x = torch.arange(3.0, device=device)
    if device == "cpu":
        x.share_memory_()
    queue.put(x)
    assert done.get().startswith(device)
    process.join()
    print("doubled", *x.tolist())
