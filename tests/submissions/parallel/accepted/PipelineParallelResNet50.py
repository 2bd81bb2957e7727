# Right ways to write PipelineParallelResNet50. docs/authoring.md explains the cells.
# right: ModelParallelResNet50

from resnet import Bottleneck, ResNet
import torch
from torch import nn


# %% pipeline_futures
# A list of futures, waited for at the end.
# expect:
#   questions:
#     "*": {status: passed}

class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def part_of(self, part):
        return self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1))

    def forward(self, x):
        futures = [torch.jit.fork(self.part_of, part) for part in x.split(self.split_size)]
        return torch.cat([torch.jit.wait(future) for future in futures])


# %% pipeline_own_streams
# Streams of its own on the second GPU, one for what arrives and one for the work.
# expect:
#   questions:
#     "*": {status: passed}

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
