# Parameters of the first part go to cuda:1 and back in every forward pass.
# expect:
#   questions:
#     ModelParallelResNet50: {status: partial, checks: {outputs: ok, gradient: ok, placed: ok, moves: wrong_transfers, nothing_else_moves: wrong_transfers, memory: ok}}

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
        self.seq1.to("cuda:1")
        self.seq1.to("cuda:0")
        x = self.seq2(self.seq1(x).to("cuda:1"))
        return self.fc(x.view(x.size(0), -1))
