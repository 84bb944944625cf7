motif bn_relu_conv(width, k, groups = 1) {
    in x
    x -> out : bn > relu > conv(width, k, groups = groups)
}

motif bn_relu_separable(width, k, stride = 1) {
    in x
    x -> out : bn > relu > depthwise(k, stride) > conv(width, 1)
}

motif bottleneck_width72 {
    in x
    node shortcut = x : avg_pool(2, 2)
    shortcut -> out : pad_channels(288)
}

motif tree_depth1_stride1 {
    in x
    node branch_2 = x : bn_relu_separable(44, 3)
    x -> out : bn_relu_conv(44, 1)
    x -> out : bn_relu_separable(44, 3)
    x -> out : bn_relu_separable(44, 7)
    x -> out : bn_relu_conv(44, 1)
    x -> out : bn_relu_conv(44, 3, groups = 2)
    branch_2 -> out
}

motif tree_depth2_stride2 {
    in x
    node branch_1
    x -> branch_1 : bn_relu_separable(100, 5, 2)
    x -> branch_1 : max_pool(3, 2)
    branch_1 -> out : avg_pool
}

motif tree_depth2_stride1 {
    in x
    node branch_1 = x : bn_relu_conv(44, 3, groups = 2)
    branch_1 -> out : tree_depth1_stride1
}

motif bottleneck_width100 {
    in x
    node inner = x : bn > conv(100, 1)
    node y = inner : tree_depth2_stride2
    node shortcut = x : avg_pool(2, 2)
    y -> out : bn_relu_conv(400, 1) > bn
    shortcut -> out : pad_channels(400)
}

motif bottleneck_width44 {
    in x
    node inner = x : bn > conv(44, 1)
    node y = inner : tree_depth2_stride1
    y -> out : bn_relu_conv(176, 1) > bn
    x -> out : pad_channels(176)
}

network search : image(3, 32, 32) -> classes(10) {
    in x
    node h[4]
    x -> h[0] : conv(16) > bn
    h[0] -> h[1] : bottleneck_width44
    h[1] -> h[2] : bottleneck_width72
    h[2] -> h[3] : bottleneck_width100
    h[3] -> out : bn > relu > global_avg_pool > linear(10)
}
