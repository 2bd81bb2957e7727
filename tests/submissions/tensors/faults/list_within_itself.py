# A checkpoint whose list holds itself.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

import torch


def save_tensors(tensors, path):
    content = []
    content.append(content)
    torch.save({name: content for name in tensors}, path)
