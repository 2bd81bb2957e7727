"""Static analysis of a hand-in's exact bytes, in a disposable process: nothing is executed."""
