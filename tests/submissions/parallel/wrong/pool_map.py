# Wrong ways to write pool_map. docs/authoring.md explains the cells.

from multiprocessing import Pool


# %% pool_closed_and_not_joined
# A pool that is closed, not joined and kept: its workers are still ending when the function returns.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: ok, closed: wrong_value}}

def pool_map(f, xs, processes=5):
    global KEPT
    KEPT = Pool(processes)
    results = KEPT.map(f, xs)
    KEPT.close()
    return results


# %% pool_ignores_processes
# Two processes, whatever is asked for.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

def pool_map(f, xs, processes=5):
    with Pool(2) as pool:
        return pool.map(f, xs)


# %% pool_in_order_of_completion
# Results as they come in.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: wrong_value, workers: requirement_not_met, closed: requirement_not_met}}

def pool_map(f, xs, processes=5):
    with Pool(processes) as pool:
        return list(pool.imap_unordered(f, xs))


# %% pool_iterator
# Returns an iterator that outlives its pool's work.
# expect:
#   questions:
#     pool_map: {status: partial, code: wrong_type}

def pool_map(f, xs, processes=5):
    with Pool(processes) as pool:
        return iter(pool.map(f, xs))


# %% pool_never_closed
# The pool lives on in a global.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: ok, closed: wrong_value}}

POOLS = []


def pool_map(f, xs, processes=5):
    POOLS.append(Pool(processes))
    return POOLS[-1].map(f, xs)


# %% pool_not_closed_and_not_joined
# A pool of the function's own that nobody closes or joins: that costs its own point, and no more.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: ok, closed: wrong_value}}

def pool_map(f, xs, processes=5):
    pool = Pool(processes)
    return pool.map(f, xs)


# %% pool_executor_not_waited_for
# An executor that is told to end, and not waited for: its processes are still ending when the function returns.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: ok, closed: wrong_value}}

from concurrent.futures import ProcessPoolExecutor


def pool_map(f, xs, processes=5):
    executor = ProcessPoolExecutor(processes)
    results = list(executor.map(f, xs))
    executor.shutdown(wait=False)
    return results


# %% pool_one_large_chunk
# A pool that hands everything to one of its processes.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

def pool_map(f, xs, processes=5):
    with Pool(processes) as pool:
        return pool.map(f, xs, chunksize=len(xs))


# %% pool_one_process
# A pool of a single process, whatever is asked for.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

def pool_map(f, xs, processes=5):
    with Pool(1) as pool:
        return pool.map(f, xs)


# %% pool_serial
# No processes at all: a comprehension.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

def pool_map(f, xs, processes=5):
    return [f(x) for x in xs]


# %% pool_threads
# Threads of one process, under the name of a pool.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

from multiprocessing.pool import ThreadPool


def pool_map(f, xs, processes=5):
    with ThreadPool(processes) as pool:
        return pool.map(f, xs)
