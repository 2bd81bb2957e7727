# Fills the scratch folder.
# expect:
#   questions:
#     save_hdf5: {status: failed, code: raised}

def save_hdf5(tensors, path):
    with open(path, "wb") as file:
        for _ in range(1000):
            file.write(bytes(2**20))
