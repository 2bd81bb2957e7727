"""The host's side of sandboxes: starts guests, watches them and ends them."""
