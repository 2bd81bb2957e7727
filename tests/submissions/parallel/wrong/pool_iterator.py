# Returns an iterator that outlives its pool's work.
# expect:
#   questions:
#     pool_map: {status: failed, code: wrong_type}

from multiprocessing import Pool


def pool_map(f, xs, processes=5):
    with Pool(processes) as pool:
        return iter(pool.map(f, xs))
