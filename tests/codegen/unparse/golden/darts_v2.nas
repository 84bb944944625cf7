motif relu_conv_bn(width) {
    in x
    x -> out : relu > conv(width, 1) > bn
}

motif sep_conv {
    in x
    node y = x : relu > depthwise > conv(k = 1) > bn
    y -> out : relu > depthwise > conv(k = 1) > bn
}

motif dil_conv {
    in x
    x -> out : relu > depthwise(dilation = 2) > conv(k = 1) > bn
}

motif factorized_reduce(width) {
    in x
    node active = x : relu
    node even = active : conv(width, 1, 2)
    node odd = active : crop > conv(width, 1, 2)
    concat(even, odd) -> out : bn
}

motif preprocess(width) {
    in a, b
    node p = a : relu_conv_bn(width)
    node q = b : relu_conv_bn(width)
    out p, q
}

motif preprocess_after_reduction(width) {
    in a, b
    node p = a : factorized_reduce(width)
    node q = b : relu_conv_bn(2 * width)
    out p, q
}

motif normal_v2(edge) {
    in a, b
    node p, q = edge(a, b)
    node h[4]
    p, q -> h[0] : sep_conv
    p, q -> h[1] : sep_conv
    q -> h[2] : sep_conv
    p -> h[2]
    p -> h[3]
    h[0] -> h[3] : dil_conv
    out concat(h)
}

motif reduction_v2(width) {
    in a, b
    node p, q = preprocess(width)(a, b)
    node h[4]
    p, q -> h[0] : max_pool(3, 2)
    q -> h[1] : max_pool(3, 2)
    h[0] -> h[1]
    p -> h[2] : max_pool(3, 2)
    h[0] -> h[2]
    q -> h[3] : max_pool(3, 2)
    h[0] -> h[3]
    out concat(h)
}

motif stack {
    in x
    node s_2 = normal_v2(preprocess(36))(x, x)
    node s_3 = normal_v2(preprocess(36))(x, s_2)
    node s_4 = normal_v2(preprocess(36))(s_2, s_3)
    node s_5 = normal_v2(preprocess(36))(s_3, s_4)
    node s_6 = normal_v2(preprocess(36))(s_4, s_5)
    node s_7 = normal_v2(preprocess(36))(s_5, s_6)
    node s_8 = reduction_v2(72)(s_6, s_7)
    node s_9 = normal_v2(preprocess_after_reduction(36))(s_7, s_8)
    node s_10 = normal_v2(preprocess(72))(s_8, s_9)
    node s_11 = normal_v2(preprocess(72))(s_9, s_10)
    node s_12 = normal_v2(preprocess(72))(s_10, s_11)
    node s_13 = normal_v2(preprocess(72))(s_11, s_12)
    node s_14 = normal_v2(preprocess(72))(s_12, s_13)
    node s_15 = reduction_v2(144)(s_13, s_14)
    node s_16 = normal_v2(preprocess_after_reduction(72))(s_14, s_15)
    node s_17 = normal_v2(preprocess(144))(s_15, s_16)
    node s_18 = normal_v2(preprocess(144))(s_16, s_17)
    node s_19 = normal_v2(preprocess(144))(s_17, s_18)
    node s_20 = normal_v2(preprocess(144))(s_18, s_19)
    out normal_v2(preprocess(144))(s_19, s_20)
}

network darts_v2 : image(3, 32, 32) -> classes(10) {
    in x
    node stem = x : conv(108) > bn
    node y = stem : stack
    y -> out : global_avg_pool > linear(10)
}
