# Nothing but this comment.
# expect:
#   questions:
#     "*": {status: failed, code: missing_function}

