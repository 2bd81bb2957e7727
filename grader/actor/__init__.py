"""Everything that runs on the untrusted side. Started by exec, imported by nobody on the host.

What lives here holds no reference, no expected value, no tolerance, no seed and no results handle.
Hand-ins share the process with it and may do to it what they like: whatever it says is a claim.
"""
