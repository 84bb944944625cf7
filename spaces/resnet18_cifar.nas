//! ResNet-18 for CIFAR-10.
//!
//! K. He, X. Zhang, S. Ren, J. Sun: Deep Residual Learning for Image Recognition. CVPR 2016.
//!
//! The widths of the ImageNet network on small images, as in K. Liu's pytorch-cifar: the stem is
//! one 3x3 convolution without stride or pooling. 11,173,962 parameters with a `width` of 64.

import "std.nas"

/// Two convolutions and a shortcut, which has weights only if the shape changes.
motif basic_block(width, stride = 1) {
    in x
    let same = stride == 1 and channels(x) == width
    node y = x : conv_bn_relu(width, 3, stride) > conv(width, 3) > bn
    node shortcut = x : if same then identity else conv(width, 1, stride) > bn
    sum(y, shortcut) -> out : relu
}

/// Two blocks of one width.
motif stage(width, stride) {
    in x
    x -> out : basic_block(width, stride) > basic_block(width)
}

/// The whole network. Each stage is twice as wide as the previous one.
network resnet18(width = 64) : image(3, 32, 32) -> classes(10) {
    in x
    node y = x : conv_bn_relu(width, 3)
        > stage(width, 1)
        > stage(2 * width, 2)
        > stage(4 * width, 2)
        > stage(8 * width, 2)
    y -> out : global_avg_pool > linear(10)
}
