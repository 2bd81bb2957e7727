# Overlaps, but does each split three times.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, placed: ok, moves: ok, nothing_comes_back: ok, overlaps: not_overlapped, overlaps_in_training: ok}}

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
        scores = []
        for part in x.split(self.split_size):
            with torch.no_grad():
                for _ in range(2):
                    self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1))
            scores.append(self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)))
        return torch.cat(scores)
