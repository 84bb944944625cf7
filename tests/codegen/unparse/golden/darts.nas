motif relu_conv_bn(width) {
    in x
    x -> out : relu > conv(width, 1) > bn(affine = false)
}

motif max_pool_3x3(stride = 1) {
    in x
    x -> out : max_pool(3, stride) > bn(affine = false)
}

motif sep_conv(k, stride = 1) {
    in x
    node y = x : relu > depthwise(k, stride) > conv(k = 1) > bn(affine = false)
    y -> out : relu > depthwise(k) > conv(k = 1) > bn(affine = false)
}

motif dil_conv(k, stride = 1) {
    in x
    x -> out : relu > depthwise(k, stride, dilation = 2) > conv(k = 1) > bn(affine = false)
}

motif avg_pool_3x3(stride = 1) {
    in x
    x -> out : avg_pool(3, stride) > bn(affine = false)
}

motif factorized_reduce(width) {
    in x
    node active = x : relu
    node even = active : conv(width, 1, 2)
    node odd = active : crop > conv(width, 1, 2)
    concat(even, odd) -> out : bn(affine = false)
}

motif preprocess(width) {
    in a, b
    node q = a : relu_conv_bn(width)
    node p = b : relu_conv_bn(width)
    out q, p
}

motif preprocess_after_reduction(width) {
    in a, b
    node q = a : relu_conv_bn(2 * width)
    node p = b : factorized_reduce(width)
    out q, p
}

cell normal(edge) {
    in a, b
    node q, p = edge(a, b)
    node h[4]
    q -> h[0] : max_pool_3x3
    p -> h[1] : sep_conv(5)
    q -> h[1] : dil_conv(3)
    q, h[0] -> h[1] : max_pool_3x3
    p -> h[2] : sep_conv(3)
    p -> h[2] : dil_conv(5)
    p -> h[2] : max_pool_3x3
    p -> h[2] : avg_pool_3x3
    q -> h[2] : dil_conv(3)
    q -> h[2] : dil_conv(5)
    q -> h[2] : avg_pool_3x3
    h[0] -> h[2] : sep_conv(5)
    h[0] -> h[2] : dil_conv(3)
    h[0] -> h[2] : avg_pool_3x3
    q -> h[3] : sep_conv(3)
    q -> h[3] : sep_conv(5)
    q -> h[3] : dil_conv(5)
    h[0] -> h[3] : sep_conv(3)
    h[0] -> h[3] : max_pool_3x3
    h[1], h[2] -> h[3] : sep_conv(3)
    h[2] -> h[3] : max_pool_3x3
    h[2] -> h[3]
    out concat(h)
}

cell reduction(width) {
    in a, b
    node q, p = preprocess(2 * width)(a, b)
    node h[4]
    q -> h[0] : factorized_reduce(width)
    p -> h[0] : sep_conv(5, 2)
    p -> h[1] : max_pool_3x3(2)
    p -> h[2] : dil_conv(5, 2)
    p -> h[2] : factorized_reduce(width)
    q -> h[3] : sep_conv(3, 2)
    q -> h[3] : sep_conv(5, 2)
    q -> h[3] : max_pool_3x3(2)
    q -> h[3] : avg_pool_3x3(2)
    p -> h[3] : dil_conv(3, 2)
    p -> h[3] : avg_pool_3x3(2)
    out concat(h)
}

motif stack {
    in x
    node s_2 = normal(preprocess(16))(x, x)
    node s_3 = normal(preprocess(16))(s_2, x)
    node s_4 = reduction(16)(s_2, s_3)
    node s_5 = normal(preprocess_after_reduction(16))(s_4, s_3)
    node s_6 = normal(preprocess(32))(s_5, s_4)
    node s_7 = reduction(32)(s_5, s_6)
    node s_8 = normal(preprocess_after_reduction(32))(s_7, s_6)
    out normal(preprocess(64))(s_8, s_7)
}

network search : image(3, 32, 32) -> classes(10) {
    in x
    node stem = x : conv(48) > bn
    node y = stem : stack
    y -> out : global_avg_pool > linear(10)
}
