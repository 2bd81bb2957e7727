"""The host's side of sandboxes: starts student processes, watches them and ends them."""
