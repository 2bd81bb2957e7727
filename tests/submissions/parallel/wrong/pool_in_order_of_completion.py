# Results as they come in.
# expect:
#   questions:
#     pool_map: {status: failed, checks: {results: wrong_value, workers: requirement_not_met, closed: requirement_not_met}}

from multiprocessing import Pool


def pool_map(f, xs, processes=5):
    with Pool(processes) as pool:
        return list(pool.imap_unordered(f, xs))
