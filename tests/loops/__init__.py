"""The corpus of loops: disguises that must be seen, and legal forms that must not be taken for one.

Each file under ``tests/submissions/*/loops`` begins with a line on what it is and the code that the
check ``loops`` must give it: ``loop_found``, ``needs_review`` (which counts as caught for a
disguise and as an alarm for a legal form) or ``ok``.
"""
