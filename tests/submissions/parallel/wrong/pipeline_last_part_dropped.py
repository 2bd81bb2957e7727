# Cuts as many whole splits as there are: of a batch that is no multiple the rest is gone, and of
# one that is smaller than a split everything.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: failed, checks: {outputs: wrong_shape, splits: requirement_not_met, placed: requirement_not_met, moves: requirement_not_met, nothing_comes_back: requirement_not_met, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

import torch
from resnet import Bottleneck, ResNet
from torch import nn


class ModelParallelResNet50(ResNet):
    def __init__(self):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        return self.fc(self.seq2(self.seq1(x).to("cuda:1")).flatten(1))


class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        scores = [torch.zeros(0, 1000, device="cuda:1")]
        for start in range(0, len(x) - self.split_size + 1, self.split_size):
            hidden = self.seq1(x[start : start + self.split_size]).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
        return torch.cat(scores)
