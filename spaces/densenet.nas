//! DenseNet-BC on CIFAR-10, as published and with every skip connection searchable.
//!
//! G. Huang, Z. Liu, L. van der Maaten, K. Weinberger: Densely Connected Convolutional Networks.
//! CVPR 2017.
//!
//! With depth 100 and growth 12 it has 769,162 parameters. In the search, a layer always reads the
//! layer before it, and chooses among all earlier ones.

import "std.nas"

/// One layer with its bottleneck: `growth` new channels from all its inputs.
motif layer(growth) {
    in x
    x -> out : bn_relu_conv(4 * growth) > bn_relu_conv(growth, 3)
}

/// Layers that read everything before them, or choose from it where `searched`.
motif dense_block(layers, growth, searched) {
    in x
    node f[layers + 1]
    node seen[layers] : concat
    x -> f[0]
    for j in 0..layers {
        f[0..j] -> seen[j] : if searched then optional identity else identity
        f[j] -> seen[j]
        seen[j] -> f[j + 1] : layer(growth)
    }
    out concat(f)
}

/// Halves the size and compresses the channels.
motif transition(compression) {
    in x
    x -> out : bn_relu_conv(floor(compression * channels(x))) > avg_pool(2, 2)
}

/// The whole network: three dense blocks. A layer has two convolutions; four more are outside.
motif densenet(depth, growth, searched, compression = 0.5, labels = 10, stride = 1) {
    in x
    let layers = (depth - 4) / 6
    assert layers == floor(layers), "the depth is 4 more than a multiple of 6"
    let block = dense_block(layers, growth, searched)
    node stem = x : conv(2 * growth, 3, stride)
    node y = stem : block > transition(compression) > block > transition(compression) > block
    y -> out : bn > relu > global_avg_pool > linear(labels)
}

/// The network to search. With a stride of 2 at its first convolution it takes a quarter of the
/// time. Its last parameters describe the data.
network search(
    depth = 40,
    growth = 12,
    stride = 1,
    channels = 3,
    size = 32,
    labels = 10
) : image(channels, size, size) -> classes(labels) {
    in x
    out densenet(depth, growth, searched = true, labels = labels, stride = stride)(x)
}

/// DenseNet-BC of depth 100 and growth 12, with all connections.
network densenet_bc_100_12 : image(3, 32, 32) -> classes(10) {
    in x
    out densenet(100, 12, searched = false)(x)
}
