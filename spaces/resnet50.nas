//! ResNet-50 on ImageNet.
//!
//! K. He, X. Zhang, S. Ren, J. Sun: Deep Residual Learning for Image Recognition. CVPR 2016.
//!
//! 25,557,032 parameters and, as published, 3.8 billion multiply-adds. Implementations usually put
//! the stride of a block on its 3x3 convolution (`strided = 3`): the same parameters, but 4.1
//! billion multiply-adds. `depths` of [3, 4, 23, 3] and [3, 8, 36, 3] are ResNet-101 and ResNet-152.

import "std.nas"

/// A bottleneck of three convolutions, and a shortcut, which has weights only if the shape changes.
/// `strided` is the kernel of the convolution with the stride: 1 or 3.
motif bottleneck(width, stride = 1, strided = 1) {
    in x
    let wide = 4 * width
    let stride_of(k) = if k == strided then stride else 1
    node y = x : conv_bn_relu(width, 1, stride_of(1))
        > conv_bn_relu(width, 3, stride_of(3))
        > conv(wide, 1)
        > bn
    node shortcut = x : if stride == 1 and channels(x) == wide
        then identity
        else conv(wide, 1, stride) > bn
    sum(y, shortcut) -> out : relu
}

/// Blocks of one width. Only the first is strided.
motif stage(width, blocks, stride, strided) {
    in x
    x -> out : bottleneck(width, stride, strided) > bottleneck(width) * (blocks - 1)
}

/// The whole network. `width` is the width of the stem; each stage is twice as wide as the previous
/// one. The parameters after `strided` describe the data.
network resnet50(
    width = 64,
    depths = [3, 4, 6, 3],
    strided = 1,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    node stem = x : conv_bn_relu(width, 7, 2) > max_pool(3, 2)
    node s[i in 0..len(depths)] = stem then s[i - 1]
        : stage(width * 2^i, depths[i], if i == 0 then 1 else 2, strided)
    s[-1] -> out : global_avg_pool > linear(labels)
}
