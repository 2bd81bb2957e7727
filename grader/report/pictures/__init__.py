"""Pictures for reports: drawn by matplotlib, which is imported only when one is drawn.

The same numbers make the same bytes of SVG: nothing in it depends on the time or on chance.
"""
