//! The search space of DARTS on ImageNet.
//!
//! H. Liu, K. Simonyan, Y. Yang: DARTS: Differentiable Architecture Search. ICLR 2019.
//!
//! The cells are those for CIFAR-10. DARTS itself only transfers cells found there, to the network
//! `imagenet` of `darts.nas`; `search` has the size of PC-DARTS, which searches on ImageNet
//! (Y. Xu et al.: PC-DARTS: Partial Channel Connections for Memory-Efficient Architecture Search.
//! ICLR 2020).

import "darts.nas" as darts

/// The network to search. `size` and `labels` describe the data.
network search(
    width = 16,
    cells = 8,
    size = 224,
    labels = 1000
) : image(3, size, size) -> classes(labels) {
    in x
    let backbone = darts.imagenet_backbone(
        darts.normal,
        darts.reduction,
        width,
        cells,
        affine = false,
        labels = labels
    )
    out backbone(x)
}

/// The network in which an architecture is trained.
network evaluation(width = 48, cells = 14) : image(3, 224, 224) -> classes(1000) {
    in x
    out darts.imagenet_backbone(darts.normal, darts.reduction, width, cells, affine = true)(x)
}
