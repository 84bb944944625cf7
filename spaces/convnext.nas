//! A space around ConvNeXt: depths, kernels and expansions of its stages.
//!
//! Z. Liu, H. Mao, C.-Y. Wu, C. Feichtenhofer, T. Darrell, S. Xie: A ConvNet for the 2020s. CVPR
//! 2022.
//!
//! ConvNeXt-T is the network `tiny`, with 28,589,128 parameters. It is the largest in `search`, where
//! the third stage has 3, 6 or 9 blocks and the others 1, 2 or 3, and each block has a kernel of 3, 5
//! or 7 and expands its channels by 2, 3 or 4. Blocks are not dropped at random during training.

/// A block: convolve each channel, then expand and project at every pixel.
motif block(kernel = 7, expand = 4) {
    in x
    let inner = expand * channels(x)
    x -> out
    x -> out : depthwise(kernel, bias = true)
        > layer_norm(eps = 0.000001)
        > conv(inner, 1, bias = true)
        > gelu
        > conv(channels(x), 1, bias = true)
        > layer_scale(init = 0.000001)
}

/// A block whose kernel and expansion are chosen.
motif chosen_block {
    in x
    x -> out : block(kernel = choose { 3, 5, 7 }, expand = choose { 2, 3, 4 })
}

/// Several blocks that are kept or left out together.
motif blocks(count) {
    in x
    x -> out : chosen_block * count
}

/// A stage: once, twice or three times so many blocks.
motif stage(count = 1, times = choose { 1, 2, 3 }) {
    in x
    x -> out : blocks(count) * times
}

/// What is between two stages: half the size.
motif downsample(width) {
    in x
    x -> out : layer_norm(eps = 0.000001) > conv(width, 2, 2, bias = true)
}

/// What is before the first stage: patches of `patch` by `patch` pixels.
motif stem(width, patch) {
    in x
    x -> out : conv(width, patch, patch, bias = true) > layer_norm(eps = 0.000001)
}

/// What is after the last stage.
motif head(labels) {
    in x
    x -> out : global_avg_pool > layer_norm(eps = 0.000001) > linear(labels)
}

/// The network to search. The parameters from `patch` on describe the data.
network search(
    width = 96,
    patch = 4,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    node y = x : stem(width, patch)
        > stage()
        > downsample(2 * width)
        > stage()
        > downsample(4 * width)
        > stage(3)
        > downsample(8 * width)
        > stage()
    y -> out : head(labels)
}

/// ConvNeXt-T. The parameters from `patch` on describe the data.
network tiny(
    width = 96,
    patch = 4,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    node y = x : stem(width, patch)
        > block() * 3
        > downsample(2 * width)
        > block() * 3
        > downsample(4 * width)
        > block() * 9
        > downsample(8 * width)
        > block() * 3
    y -> out : head(labels)
}
