# The pool lives on in a global.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: ok, closed: wrong_value}}

from multiprocessing import Pool

POOLS = []


def pool_map(f, xs, processes=5):
    POOLS.append(Pool(processes))
    return POOLS[-1].map(f, xs)
