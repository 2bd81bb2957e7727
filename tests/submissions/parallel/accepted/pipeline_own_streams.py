# Streams of its own on the second GPU, one for what arrives and one for the work.
# expect:
#   questions:
#     "*": {status: passed}

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
        arriving, working = torch.cuda.Stream("cuda:1"), torch.cuda.Stream("cuda:1")
        usual = torch.cuda.current_stream("cuda:1")
        scores = []
        for part in x.split(self.split_size):
            hidden = self.seq1(part)
            with torch.cuda.stream(arriving):
                hidden = hidden.to("cuda:1", non_blocking=True)
            working.wait_event(arriving.record_event())
            with torch.cuda.stream(working):
                hidden.record_stream(working)
                scores.append(self.fc(self.seq2(hidden).flatten(1)))
        usual.wait_stream(working)
        return torch.cat(scores)
