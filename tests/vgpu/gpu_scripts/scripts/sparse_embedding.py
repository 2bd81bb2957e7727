"""An embedding with sparse gradients.

refused: layout torch.sparse_coo
"""

import torch
from torch import nn

table = nn.Embedding(10, 3, sparse=True).cuda()
table(torch.tensor([1, 2]).cuda()).sum().backward()
