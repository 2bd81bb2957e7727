"""Devices, their memory and tensors, and what becomes of an operation on them."""
