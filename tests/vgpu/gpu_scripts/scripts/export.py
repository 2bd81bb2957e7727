"""torch.export of a model on a GPU.

refused: torch.export.export
"""

import torch
from torch import nn

model = nn.Linear(2, 2).cuda()
torch.export.export(model, (torch.ones(1, 2).cuda(),))
