motif relu_conv_bn(width, k) {
    in x
    x -> out : relu > conv(width, k) > bn
}

motif sep_conv {
    in x
    node y = x : relu > depthwise > conv(k = 1) > bn
    y -> out : relu > depthwise > conv(k = 1) > bn
}

cell block(width) {
    in x
    node entry = x : relu_conv_bn(width, 1)
    node h_1 = entry : sep_conv
    node h_2
    entry -> h_2
    h_1 -> h_2 : relu_conv_bn(width, 3)
    out concat(h_1, h_2)
}

network digits : image(1, 8, 8) -> classes(10) {
    in x
    node stem = x : conv(8) > bn
    node large = stem : block(8)
    node small = large : max_pool(2, 2) > block(16)
    node last = small : block(16)
    last -> out : global_avg_pool > linear(10)
}
