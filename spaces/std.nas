//! The usual building blocks of search spaces, written in the language itself.
//!
//! `width` is the number of output channels; an operation without it keeps those of its input.
//! `stride = 2` halves the size. `affine = false` omits the weights of batch norms, as DARTS does
//! during a search, where they would rescale what a switch multiplies.

// ------------------------------------------------------------------------------ convolutions

/// Convolution, batch norm, ReLU: the order of most networks.
motif conv_bn_relu(width, k = 1, stride = 1, affine = true, groups = 1) {
    in x
    x -> out : conv(width, k, stride, groups) > bn(affine) > relu
}

/// ReLU, convolution, batch norm: the order of DARTS (Liu et al., 2019).
motif relu_conv_bn(width, k = 1, stride = 1, affine = true, groups = 1) {
    in x
    x -> out : relu > conv(width, k, stride, groups) > bn(affine)
}

/// Batch norm, ReLU, convolution: the order of networks with pre-activation (He et al., 2016).
motif bn_relu_conv(width, k = 1, stride = 1, affine = true, groups = 1) {
    in x
    x -> out : bn(affine) > relu > conv(width, k, stride, groups)
}

// -------------------------------------------------------------------- separable convolutions

/// Depthwise convolution, batch norm, ReLU.
motif depthwise_bn_relu(k = 3, stride = 1, affine = true) {
    in x
    x -> out : depthwise(k, stride) > bn(affine) > relu
}

/// Depthwise separable convolution, batch norm, ReLU.
motif separable_bn_relu(width, k = 3, stride = 1, affine = true) {
    in x
    x -> out : depthwise(k, stride) > conv(width, 1) > bn(affine) > relu
}

/// Batch norm, ReLU, depthwise separable convolution.
motif bn_relu_separable(width, k = 3, stride = 1, affine = true) {
    in x
    x -> out : bn(affine) > relu > depthwise(k, stride) > conv(width, 1)
}

/// Depthwise separable convolution applied twice, as in DARTS. Only the first is strided.
motif sep_conv(k = 3, stride = 1, affine = true) {
    in x
    node y = x : relu > depthwise(k, stride) > conv(k = 1) > bn(affine)
    y -> out : relu > depthwise(k) > conv(k = 1) > bn(affine)
}

/// Dilated depthwise separable convolution, as in DARTS.
motif dil_conv(k = 3, stride = 1, dilation = 2, affine = true) {
    in x
    x -> out : relu > depthwise(k, stride, dilation) > conv(k = 1) > bn(affine)
}

// --------------------------------------------------------------------------- inverted blocks

/// The convolutions of MobileNetV2 (Sandler et al., CVPR 2018): expand the channels, convolve each
/// separately, project. Without expansion, the first convolution is omitted.
motif inverted_bottleneck(width, k = 3, stride = 1, expand = 6) {
    in x
    node wide = x : if expand == 1 then identity else conv(expand * channels(x), 1) > bn > relu6
    wide -> out : depthwise(k, stride) > bn > relu6 > conv(width, 1) > bn
}

/// The block of MobileNetV2: an inverted bottleneck, added to its input if their shapes agree.
motif mbconv(width, k = 3, stride = 1, expand = 6) {
    in x
    x -> out : inverted_bottleneck(width, k, stride, expand)
    if stride == 1 and channels(x) == width {
        x -> out
    }
}

/// Squeeze and excitation: scales channels by a function of their means (Hu et al., CVPR 2018).
motif squeeze_excite(ratio = 4) {
    in x
    let inner = max(1, floor(channels(x) / ratio))
    node weight = x : global_avg_pool > linear(inner) > relu > linear(channels(x)) > sigmoid
    out scale(x, weight)
}

// ------------------------------------------------------------------------------ transformers

/// Self-attention: every position of a sequence reads all others (Vaswani et al., 2017). The
/// channels are divided among the heads.
motif self_attention(heads, bias = true) {
    in x
    node query = x : linear(bias = bias)
    node key = x : linear(bias = bias)
    node value = x : linear(bias = bias)
    attention(heads)(query, key, value) -> out : linear(bias = bias)
}

/// Two dense layers at every position. The first makes the sequence `ratio` times as wide.
motif transformer_mlp(ratio = 4) {
    in x
    x -> out : linear(ratio * channels(x)) > gelu > linear(channels(x))
}

/// A block of a transformer with the norms first: self-attention and two dense layers, each added
/// to its input (Dosovitskiy et al., ICLR 2021).
motif transformer_block(heads, ratio = 4, eps = 0.000001) {
    in x
    node y
    x -> y
    x -> y : layer_norm(eps = eps) > self_attention(heads)
    y -> out
    y -> out : layer_norm(eps = eps) > transformer_mlp(ratio)
}

// -------------------------------------------------------------------------- pools and skips

/// Max pooling, normalised so that it competes with convolutions on equal terms.
motif max_pool_bn(k = 3, stride = 1) {
    in x
    x -> out : max_pool(k, stride) > bn(affine = false)
}

/// Average pooling, normalised so that it competes with convolutions on equal terms.
motif avg_pool_bn(k = 3, stride = 1) {
    in x
    x -> out : avg_pool(k, stride) > bn(affine = false)
}

/// Identity, or a factorized reduction if the size is halved.
motif skip(stride = 1, affine = true) {
    in x
    x -> out : if stride == 1 then identity else factorized_reduce(channels(x), affine)
}

/// Halves the size, which must be even, with two strided convolutions. One is shifted by a pixel,
/// so that together they read half of the positions instead of a quarter.
motif factorized_reduce(width, affine = true) {
    in x
    let half = floor(width / 2)
    node active = x : relu
    node even = active : conv(half, 1, 2)
    node odd = active : crop(1) > conv(width - half, 1, 2)
    concat(even, odd) -> out : bn(affine)
}
