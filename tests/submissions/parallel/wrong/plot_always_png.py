# A PNG whatever the name of the file says.
# expect:
#   questions:
#     plot_times: {status: partial, checks: {file: wrong_value, bars: ok, error_bars: ok, labels: ok}}

import matplotlib.pyplot as plt


def plot_times(means, stds, labels, path):
    fig, ax = plt.subplots()
    ax.bar(labels, means, yerr=stds)
    ax.set_ylabel("seconds")
    fig.savefig(path, format="png")
