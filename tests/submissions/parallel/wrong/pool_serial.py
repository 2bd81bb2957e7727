# No processes at all: a comprehension.
# expect:
#   questions:
#     pool_map: {status: partial, checks: {results: ok, workers: wrong_value, closed: ok}}

def pool_map(f, xs, processes=5):
    return [f(x) for x in xs]
