//! NAS-Bench-Macro on CIFAR-10.
//!
//! X. Su, T. Huang, Y. Li, S. You, F. Wang, C. Qian, C. Zhang, C. Xu: Prioritized Architecture
//! Sampling with Monto-Carlo Tree Search. CVPR 2021.
//!
//! The benchmark has 3^8 = 6,561 architectures: each of eight layers is a skip, or one of two blocks
//! of MobileNetV2. The largest has 2,932,586 parameters, the smallest 387,882.

import "std.nas"

/// The block of MobileNetV2 with ReLU, added to its input if their shapes agree.
motif inverted(width, k, stride, expand) {
    in x
    x -> out : conv_bn_relu(expand * channels(x))
        > depthwise_bn_relu(k, stride)
        > conv(width, 1)
        > bn
    if stride == 1 and channels(x) == width {
        x -> out
    }
}

/// A skip: the identity, or a convolution where the shape changes.
motif shortcut(width, stride) {
    in x
    x -> out : if stride == 1 and channels(x) == width
        then identity
        else conv(width, 1, stride) > bn
}

/// The candidates of a layer.
set candidates(width, stride) = {
    shortcut(width, stride),
    inverted(width, 3, stride, 3),
    inverted(width, 5, stride, 6)
}

/// Layers of one width; the first halves the size.
motif stage(width, layers) {
    in x
    x -> out : choose exactly 1 candidates(width, 2)
        > (choose exactly 1 candidates(width, 1)) * (layers - 1)
}

/// The network to search. The parameters after `last` describe the data.
network search(
    width = 32,
    last = 1280,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    node y = x : conv_bn_relu(width, 3)
        > stage(2 * width, 2)
        > stage(4 * width, 3)
        > stage(8 * width, 3)
    y -> out : conv_bn_relu(last) > global_avg_pool > linear(labels)
}
