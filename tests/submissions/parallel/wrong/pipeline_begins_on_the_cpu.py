# The first layers stay on the CPU, where a fifth of the work is done.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, again: ok, again_in_training: ok, placed: wrong_device, on_gpus: ran_elsewhere, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

import torch
from resnet import Bottleneck, ResNet
from torch import nn


class PipelineParallelResNet50(ResNet):
    def __init__(self, split_size=20):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        self.stem = nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool, self.layer1)
        self.layer2.to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")
        self.split_size = split_size

    def forward(self, x):
        scores = []
        for part in x.split(self.split_size):
            hidden = self.layer2(self.stem(part.cpu()).to("cuda:0")).to("cuda:1")
            scores.append(self.fc(self.seq2(hidden).flatten(1)))
        return torch.cat(scores)
