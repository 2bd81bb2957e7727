# Pickles, which torch does not read.
# expect:
#   questions:
#     save_tensors: {status: failed, code: unreadable_file}

import pickle


def save_tensors(tensors, path):
    with open(path, "wb") as file:
        pickle.dump(tensors, file)
