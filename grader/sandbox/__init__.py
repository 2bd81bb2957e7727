"""The sandbox: ``host`` starts, watches and ends student processes; ``walls`` confine them."""
