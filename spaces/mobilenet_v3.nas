//! MobileNetV3-Large on ImageNet, as published and with every block searchable.
//!
//! A. Howard et al.: Searching for MobileNetV3. ICCV 2019.
//!
//! `mobilenet_v3_large` is the published network: 5,483,032 parameters. In `search`, each of its 14
//! blocks after the first is chosen from the candidates of FBNet (B. Wu et al.: FBNet: Hardware-Aware
//! Efficient ConvNet Design via Differentiable Neural Architecture Search. CVPR 2019): kernels of 3
//! and 5, expansions of 1, 3 and 6 and, without expansion, convolutions in two groups. A block that
//! keeps the shape may be left out. With an expansion of 1 and without groups, a block has no first
//! convolution here. These are 8^5 * 9^9, about 1e13, networks.

/// The multiple of 8 next to a number, but not less than 90 % of it.
let divisible(n) = max(8, 8 * floor(n / 8 + 1 / 2), 8 * ceil((0.9 * n) / 8))

/// Batch norm with the settings of the paper.
let norm = bn(eps = 0.001, momentum = 0.01)

/// Squeeze and excitation: scales channels by a function of their means.
motif excite(ratio = 4) {
    in x
    let inner = divisible(channels(x) / ratio)
    node weight = x : global_avg_pool > linear(inner) > relu > linear(channels(x)) > hard_sigmoid
    out scale(x, weight)
}

/// The convolutions of a block: expand to `inner` channels, convolve each, project. Those that expand
/// and project may be in groups; channels are then shuffled between them.
motif bottleneck(width, k, stride, inner, attention, activation, groups = 1) {
    in x
    let shuffle = if groups == 1 then identity else channel_shuffle(groups)
    node wide = x : if inner == channels(x) and groups == 1
        then identity
        else conv(inner, 1, groups = groups) > norm > activation > shuffle
    node deep = wide : depthwise(k, stride) > norm > activation
    deep -> out : (if attention then excite else identity) > conv(width, 1, groups = groups) > norm
}

/// A block of the published network, added to its input if their shapes agree.
motif block(width, k, stride, inner, attention, activation) {
    in x
    x -> out : bottleneck(width, k, stride, inner, attention, activation)
    if stride == 1 and channels(x) == width {
        x -> out
    }
}

/// The network of the paper. `multiplier` scales all widths.
network mobilenet_v3_large(multiplier = 1) : image(3, 224, 224) -> classes(1000) {
    in x
    let w(width) = divisible(width * multiplier)
    let small(width, k, stride, inner) = block(w(width), k, stride, w(inner), false, relu)
    let large(width, k, stride, inner) = block(w(width), k, stride, w(inner), false, hard_swish)
    let tuned(width, k, stride, inner, f) = block(w(width), k, stride, w(inner), true, f)
    node stem = x : conv(w(16), 3, 2) > norm > hard_swish > small(16, 3, 1, 16)
    node a = stem : small(24, 3, 2, 64) > small(24, 3, 1, 72)
    node b = a : tuned(40, 5, 2, 72, relu) > tuned(40, 5, 1, 120, relu) * 2
    node c = b : large(80, 3, 2, 240) > large(80, 3, 1, 200) > large(80, 3, 1, 184) * 2
    node d = c : tuned(112, 3, 1, 480, hard_swish) > tuned(112, 3, 1, 672, hard_swish)
    node e = d : tuned(160, 5, 2, 672, hard_swish) > tuned(160, 5, 1, 960, hard_swish) * 2
    e -> out : head(w(960), w(1280), 1000)
}

/// The last layers.
motif head(width, features, labels) {
    in x
    x -> out : conv(width, 1)
        > norm
        > hard_swish
        > global_avg_pool
        > linear(features)
        > hard_swish
        > dropout(0.2)
        > linear(labels)
}

/// A candidate: the channels are multiplied by `expand`, perhaps by 1.
motif inverted(width, k, stride, expand, attention, f) {
    in x
    x -> out : bottleneck(width, k, stride, expand * channels(x), attention, f)
}

/// A candidate without expansion, in two groups.
motif grouped(width, k, stride, attention, f) {
    in x
    x -> out : bottleneck(width, k, stride, channels(x), attention, f, groups = 2)
}

/// The candidates of a block.
set candidates(width, stride, attention, f) = {
    inverted(width, k, stride, expand, attention, f) for k in [3, 5] for expand in [1, 3, 6]
}
    | { grouped(width, k, stride, attention, f) for k in [3, 5] }

/// Blocks of one width. The first changes the shape, so it is not left out; the others add to their
/// input.
motif stage(width, blocks, stride, attention, f) {
    in x
    node h[blocks]
    x -> h[0] : choose exactly 1 candidates(width, stride, attention, f)
    for i in 1..blocks {
        h[i - 1] -> h[i]
        h[i - 1] -> h[i] : choose 1 candidates(width, 1, attention, f)
    }
    out h[blocks - 1]
}

/// The network to search. `multiplier` scales all widths, `stride` is the stride of the first two
/// convolutions with one. The parameters after it describe the data.
network search(
    multiplier = 1,
    stride = 2,
    channels = 3,
    size = 224,
    labels = 1000
) : image(channels, size, size) -> classes(labels) {
    in x
    let w(width) = divisible(width * multiplier)
    node stem = x : conv(w(16), 3, stride)
        > norm
        > hard_swish
        > block(w(16), 3, 1, w(16), false, relu)
    node y = stem : stage(w(24), 2, stride, false, relu)
        > stage(w(40), 3, 2, true, relu)
        > stage(w(80), 4, 2, false, hard_swish)
        > stage(w(112), 2, 1, true, hard_swish)
        > stage(w(160), 3, 2, true, hard_swish)
    y -> out : head(w(960), w(1280), labels)
}
