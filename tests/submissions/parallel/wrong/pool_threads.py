# Threads of one process, under the name of a pool.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

from multiprocessing.pool import ThreadPool


def pool_map(f, xs, processes=5):
    with ThreadPool(processes) as pool:
        return pool.map(f, xs)
