"""All that host and student process share: framed messages and a tree of plain values.

No pickle, no code, no object of the other side: JSON for structure and raw bytes for tensors, with
every size checked against a cap before memory is set aside for it.
"""
