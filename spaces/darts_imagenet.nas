//! The search space of DARTS on ImageNet.
//!
//! H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
//!
//! The cells are those for CIFAR-10. DARTS itself only transfers cells found there, into the network
//! `imagenet` of `darts.nas`; the size of `search` is that of PC-DARTS, which searches on ImageNet
//! (Y. Xu et al.: PC-DARTS: Partial Channel Connections for Memory-Efficient Architecture Search.
//! ICLR 2020).

import "darts.nas" as darts

/// The network that is searched.
network search(width = 16, cells = 8) : image(3, 224, 224) -> classes(1000) {
    in x
    out darts.imagenet_backbone(darts.normal, darts.reduction, width, cells, affine = false)(x)
}

/// The network that a found architecture is trained in.
network evaluation(width = 48, cells = 14) : image(3, 224, 224) -> classes(1000) {
    in x
    out darts.imagenet_backbone(darts.normal, darts.reduction, width, cells, affine = true)(x)
}
