//! DARTS_V2, the architecture that second-order DARTS found on CIFAR-10.
//!
//! H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
//!
//! Without the auxiliary head, which is only used in training, it has 3,349,342 parameters.

import "std.nas"
import "darts.nas"

/// The normal cell.
motif normal_v2(width, after_reduction, affine) {
    in a, b
    node p, q = preprocess(width, after_reduction, affine)(a, b)
    node h[4]
    p, q -> h[0], h[1] : sep_conv(3, 1, affine)
    q -> h[2] : sep_conv(3, 1, affine)
    p -> h[2], h[3]
    h[0] -> h[3] : dil_conv(3, 1, affine = affine)
    out concat(h)
}

/// The reduction cell, with only pools and skips.
motif reduction_v2(width, after_reduction, affine) {
    in a, b
    node p, q = preprocess(width, after_reduction, affine)(a, b)
    node h[4]
    p -> h[0], h[2] : max_pool(3, 2)
    q -> h[0], h[1], h[3] : max_pool(3, 2)
    h[0] -> h[1], h[2], h[3]
    out concat(h)
}

/// The network in the paper's CIFAR-10 table.
network darts_v2(width = 36, cells = 20) : image(3, 32, 32) -> classes(10) {
    in x
    out backbone(normal_v2, reduction_v2, width, cells, affine = true)(x)
}
