# The batch is cut by NumPy, on the CPU; each part is uploaded again.
# expect:
#   questions:
#     PipelineParallelResNet50: {status: partial, checks: {outputs: ok, splits: ok, again: not_repeated, again_in_training: not_repeated, placed: requirement_not_met, moves: requirement_not_met, nothing_comes_back: requirement_not_met, on_gpus: requirement_not_met, overlaps: requirement_not_met, overlaps_in_training: requirement_not_met}}

import torch
from resnet import Bottleneck, ResNet
from torch import nn


class PipelineParallelResNet50(ResNet):
    def __init__(self, split_size=20):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=1000)
        first = (self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2)
        self.seq1 = nn.Sequential(*first).to("cuda:0")
        self.seq2 = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")
        self.split_size = split_size

    def forward(self, x):
        images, scores = x.cpu().numpy(), []
        for start in range(0, len(images), self.split_size):
            part = torch.from_numpy(images[start : start + self.split_size]).to("cuda:0")
            scores.append(self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)))
        return torch.cat(scores)
