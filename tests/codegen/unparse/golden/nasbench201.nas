motif relu_conv_bn(width, k, stride = 1) {
    in x
    x -> out : relu > conv(width, k, stride) > bn
}

cell dense(width) {
    in x
    node h_1 = x : relu_conv_bn(width, 1)
    x -> out : relu_conv_bn(width, 1)
    h_1 -> out
    h_1 -> out : relu_conv_bn(width, 3)
}

motif residual_reduction(width) {
    in x
    x -> out : relu_conv_bn(width, 3, 2) > relu_conv_bn(width, 3)
    x -> out : avg_pool(2, 2) > conv(width, 1)
}

motif stage(width) {
    in x
    node c[4]
    x -> c[0] : dense(width)
    c[0] -> c[1] : dense(width)
    c[1] -> c[2] : dense(width)
    c[2] -> c[3] : dense(width)
    c[3] -> out : dense(width)
}

network search : image(3, 32, 32) -> classes(10) {
    in x
    node a = x : conv(16) > bn > stage(16)
    node b = a : residual_reduction(32) > stage(32)
    node c = b : residual_reduction(64) > stage(64)
    c -> out : bn > relu > global_avg_pool > linear(10)
}
