# Bars without error bars.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {file: ok, bars: ok, error_bars: wrong_shape, labels: ok}}

import matplotlib.pyplot as plt


def plot_times(means, stds, labels, path):
    fig, ax = plt.subplots()
    ax.bar(range(len(means)), means)
    ax.set_xticks(range(len(means)))
    ax.set_xticklabels(labels)
    ax.set_ylabel("seconds")
    fig.savefig(path)
