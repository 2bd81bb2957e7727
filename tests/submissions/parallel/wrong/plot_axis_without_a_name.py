# Nothing says what is measured.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {file: ok, bars: ok, error_bars: ok, labels: wrong_value}}

import matplotlib.pyplot as plt


def plot_times(means, stds, labels, path):
    fig, ax = plt.subplots()
    ax.bar(labels, means, yerr=stds)
    fig.savefig(path)
