# A checkpoint of a few hundred bytes that doubles forty times while it is looked at.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

import torch


def save_tensors(tensors, path):
    content = 0
    for _ in range(40):
        content = [content, content]
    torch.save({name: content for name in tensors}, path)
