# A pool that hands everything to one of its processes.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

from multiprocessing import Pool


def pool_map(f, xs, processes=5):
    with Pool(processes) as pool:
        return pool.map(f, xs, chunksize=len(xs))
