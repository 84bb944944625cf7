//! VGG-11 with batch norm on ImageNet.
//!
//! K. Simonyan, A. Zisserman: Very Deep Convolutional Networks for Large-Scale Image Recognition.
//! ICLR 2015.
//!
//! Configuration A of the paper, which is older than batch norm: 132,863,336 parameters, and
//! 132,868,840 with batch norm. `depths` of [2, 2, 2, 2, 2], [2, 2, 3, 3, 3] and [2, 2, 4, 4, 4] are
//! the configurations B, D and E: VGG-13, VGG-16 and VGG-19.

/// A convolution with its activation.
motif layer(width, norm) {
    in x
    x -> out : conv(width, bias = true) > (if norm then bn else identity) > relu
}

/// Layers of one width, then pooling.
motif stage(width, depth, norm) {
    in x
    x -> out : layer(width, norm) * depth > max_pool(2, 2)
}

/// A hidden layer of the classifier.
motif hidden_layer(width, drop) {
    in x
    x -> out : linear(width) > relu > dropout(drop)
}

/// The whole network. `width` is the width of the first stage, `hidden` that of the two hidden
/// layers. `norm = false` omits batch norm. The parameters after `drop` describe the data.
network vgg11_bn(
    width = 64,
    depths = [1, 1, 2, 2, 2],
    hidden = 4096,
    norm = true,
    drop = 0.5,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    node s[i in 0..len(depths)] = x then s[i - 1] : stage(width * min(8, 2^i), depths[i], norm)
    s[-1] -> out : flatten > hidden_layer(hidden, drop) * 2 > linear(labels)
}
