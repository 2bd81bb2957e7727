"""DataLoader workers that are started anew, as on Windows and macOS."""

import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.tensor([index, index**2], dtype=torch.float32)


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, multiprocessing_context="spawn")
    total = torch.zeros(2, device=device)
    for batch in loader:
        total += batch.to(device).sum(0)
    print("sums", *total.tolist())
