"""What students and staff read: message ids and parameters become sentences.

``en.toml`` and ``ko.toml`` hold the texts and nothing else, ``catalogue`` reads them and chooses
the language, ``words`` fills their blanks.
"""
