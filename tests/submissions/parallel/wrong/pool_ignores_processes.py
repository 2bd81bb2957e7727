# Two processes, whatever is asked for.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

from multiprocessing import Pool


def pool_map(f, xs, processes=5):
    with Pool(2) as pool:
        return pool.map(f, xs)
