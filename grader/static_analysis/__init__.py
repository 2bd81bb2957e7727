"""Static analysis of a submission's exact bytes, in a disposable process: nothing is executed."""
