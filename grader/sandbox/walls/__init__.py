"""Walls that a student process puts up around itself before a submission reaches it.

Standard library and ctypes only: both the student process and the host import this package. Each
module says what it defends against and what not; how they are put up in order is in ``apply``, what
must hold afterwards in ``self_test`` and ``verdicts``.
"""
