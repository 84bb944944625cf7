motif conv_bn_relu(width, stride = 1) {
    in x
    x -> out : conv(width, 3, stride) > bn > relu
}

motif basic_block_stride1(width) {
    in x
    node y = x : conv_bn_relu(width) > conv(width) > bn
    sum(y, x) -> out : relu
}

motif basic_block_stride2(width) {
    in x
    node y = x : conv_bn_relu(width, 2) > conv(width) > bn
    node shortcut = x : conv(width, 1, 2) > bn
    sum(y, shortcut) -> out : relu
}

motif stage_stride1 {
    in x
    x -> out : basic_block_stride1(64) > basic_block_stride1(64)
}

motif stage_stride2(width) {
    in x
    x -> out : basic_block_stride2(width) > basic_block_stride1(width)
}

network resnet18 : image(3, 32, 32) -> classes(10) {
    in x
    node y = x : conv_bn_relu(64)
        > stage_stride1
        > stage_stride2(128)
        > stage_stride2(256)
        > stage_stride2(512)
    y -> out : global_avg_pool > linear(10)
}
