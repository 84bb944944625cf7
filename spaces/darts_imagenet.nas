//! The search space of DARTS on ImageNet.
//!
//! H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
//!
//! The cells are those for CIFAR-10. DARTS itself only transfers cells found there; the size of
//! `search` is that of PC-DARTS, which searches on ImageNet (Y. Xu et al.: PC-DARTS: Partial
//! Channel Connections for Memory-Efficient Architecture Search. ICLR 2020).

import "std.nas"
import "darts.nas" as darts

/// The whole network for ImageNet. Two stems bring 224 pixels down to 56 and to 28: the first cell
/// reads both, as if a reduction stood before it.
motif backbone(normal_cell, reduction_cell, width, cells, affine) {
    in x
    node a = x : conv(floor(width / 2), 3, 2) > bn > relu > conv(width, 3, 2) > bn
    node b = a : relu_conv_bn(width, 3, 2)
    let body = darts.stack(normal_cell, reduction_cell, width, cells, affine, true)
    body(a, b) -> out : global_avg_pool > linear(1000)
}

/// The network that is searched.
network search(width = 16, cells = 8) : image(3, 224, 224) -> classes(1000) {
    in x
    out backbone(darts.normal, darts.reduction, width, cells, affine = false)(x)
}

/// The network that a found architecture is trained in.
network evaluation(width = 48, cells = 14) : image(3, 224, 224) -> classes(1000) {
    in x
    out backbone(darts.normal, darts.reduction, width, cells, affine = true)(x)
}
