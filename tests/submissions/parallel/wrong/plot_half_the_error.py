# Error bars of half the length.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {file: ok, bars: ok, error_bars: wrong_value, labels: ok}}

import matplotlib.pyplot as plt


def plot_times(means, stds, labels, path):
    plt.figure()
    plt.bar(labels, means, yerr=[std / 2 for std in stds])
    plt.ylabel("seconds")
    plt.savefig(path)
