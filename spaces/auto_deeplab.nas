//! Auto-DeepLab, which searches the cell and the size of every layer.
//!
//! C. Liu, L.-C. Chen, F. Schroff, H. Adam, W. Hua, A. L. Yuille, L. Fei-Fei: Auto-DeepLab:
//! Hierarchical Neural Architecture Search for Semantic Image Segmentation. CVPR 2019.
//!
//! The image is made four times smaller; then every layer keeps the size of the one before it, halves
//! it, or doubles it, between a 4th and a 32nd of the image. With the 12 layers of the paper these are
//! 28,657 paths, 2.9e4 as published. All layers have one cell: five blocks of two branches each.
//! Unlike in the paper, a cell reads only the layer before it, not the two before it; values are made
//! smaller by resizing, not by convolutions with a stride; and the pyramid at the end has 256 channels
//! at every size, not 40 to 320. `search` has a class for every pixel; `classify` has the same switches,
//! and a label for the whole image.

import "std.nas"

/// The operations of a branch: those of the paper, without "no connection".
set operations(affine) = {
    sep_conv(3, affine = affine),
    sep_conv(5, affine = affine),
    dil_conv(3, affine = affine),
    dil_conv(5, affine = affine),
    avg_pool_bn(3),
    max_pool_bn(3),
    skip(),
}

/// The cell of all layers. Each block adds two branches, each of which reads the input or an earlier
/// block. The results are concatenated.
cell block_cell(affine) {
    in x
    node left[5], right[5], h[5]
    for j in 0..5 {
        x, h[0..j] -> left[j], right[j] : choose 1 operations(affine)
        left[j], right[j] -> h[j]
        require inputs(left[j]) == 1
        require inputs(right[j]) == 1
    }
    out concat(h)
}

/// Another size and another width.
motif resample(width, factor, affine) {
    in x
    let size = floor(height(x) * factor)
    x -> out : (if factor == 1 then identity else resize(size))
        > relu_conv_bn(width, affine = affine)
}

/// Four scales side by side, and a path through them. `step` is the operation of a layer, `finish` has
/// that of the output for each scale. A layer has at most as many scales as the layer before it, plus one.
motif trellis(step, finish, width, layers, affine) {
    in x
    let offset(l) = if l < 3 then l * (l + 1) / 2 else 6 + (l - 3) * 4
    let scales(l) = min(l + 1, 4)
    node entry[offset(layers)], h[offset(layers)]
    node y
    x -> entry[0] : relu_conv_bn(width, affine = affine)
    for l in 1..layers {
        for s in 0..scales(l) {
            let here = offset(l) + s
            for t in max(0, s - 1)..min(s + 2, scales(l - 1)) {
                h[offset(l - 1) + t] -> entry[here] : optional resample(
                    width * 2^s,
                    2^(t - s),
                    affine
                )
            }
            require inputs(entry[here]) == 1
        }
    }
    for i in 0..offset(layers) {
        entry[i] -> h[i] : step
    }
    for s in 0..scales(layers - 1) {
        h[offset(layers - 1) + s] -> y : optional finish[s]
    }
    require inputs(y) == 1
    out y
}

/// The first layers, which make the image four times smaller.
motif stem(width) {
    in x
    x -> out : conv(width, 3, 2) > bn > relu > conv(width) > bn > relu > conv(2 * width, 3, 2) > bn
}

/// Atrous spatial pyramid pooling at one scale: what is there, what is around it, and what is
/// everywhere. Then a class for every pixel of the image.
motif pyramid(width, labels, size, s) {
    in x
    node here = x : conv_bn_relu(width)
    node around = x : conv(width, 3, dilation = 24 / 2^s) > bn > relu
    node everywhere = x : adaptive_avg_pool(1) > conv(width, 1) > relu > resize(height(x))
    concat(here, around, everywhere) -> out : conv_bn_relu(width)
        > conv(labels, 1, bias = true)
        > resize(size)
}

/// A class for the whole image.
motif label(labels) {
    in x
    x -> out : relu > global_avg_pool > linear(labels)
}

/// The network to search. `width` is that of a block at the largest scale. The parameters after
/// `layers` describe the data.
network search(
    width = 8,
    layers = 12,
    channels = 3,
    size = 320,
    labels = 19
) : image(channels, size, size) -> map(labels, size, size) {
    in x
    let finish = [pyramid(32 * width, labels, size, s) for s in 0..4]
    x -> out : stem(8 * width) > trellis(block_cell(false), finish, width, layers, false)
}

/// The same for data with one label per image. `first` is the width of the first layers.
network classify(
    width = 4,
    layers = 4,
    first = 8,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    let finish = [label(labels) for s in 0..4]
    x -> out : stem(first) > trellis(block_cell(false), finish, width, layers, false)
}
