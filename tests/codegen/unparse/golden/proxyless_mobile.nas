motif inverted_bottleneck_width16 {
    in x
    x -> out : depthwise > bn > relu6 > conv(16, 1) > bn
}

motif inverted_bottleneck(inner, width, k, stride = 1) {
    in x
    node wide = x : conv(inner, 1) > bn > relu6
    wide -> out : depthwise(k, stride) > bn > relu6 > conv(width, 1) > bn
}

motif stage_width24 {
    in x
    node h_0
    x -> h_0 : inverted_bottleneck(48, 24, 7, 2)
    x -> h_0 : inverted_bottleneck(96, 24, 7, 2)
    node h_2
    h_0 -> h_2
    h_0 -> h_2 : inverted_bottleneck(72, 24, 7)
    h_0 -> h_2 : inverted_bottleneck(144, 24, 3)
    h_0 -> h_2 : inverted_bottleneck(144, 24, 5)
    h_2 -> out
    h_2 -> out : inverted_bottleneck(72, 24, 3)
    h_2 -> out : inverted_bottleneck(72, 24, 7)
    h_2 -> out : inverted_bottleneck(144, 24, 3)
    h_2 -> out : inverted_bottleneck(144, 24, 5)
    h_2 -> out : inverted_bottleneck(144, 24, 7)
}

motif stage(inner, width, k, k_2) {
    in x
    node h_0
    x -> h_0 : inverted_bottleneck(inner, width, k, 2)
    x -> h_0 : inverted_bottleneck(2 * inner, width, k, 2)
    h_0 -> out
    h_0 -> out : inverted_bottleneck(3 * width, width, k_2)
    h_0 -> out : inverted_bottleneck(6 * width, width, k)
}

motif stage_width80 {
    in x
    x -> out : inverted_bottleneck(240, 80, 3, 2)
    x -> out : inverted_bottleneck(240, 80, 7, 2)
}

motif stage_width96 {
    in x
    node h_0
    x -> h_0 : inverted_bottleneck(240, 96, 3)
    x -> h_0 : inverted_bottleneck(240, 96, 5)
    x -> h_0 : inverted_bottleneck(480, 96, 3)
    node h_2
    h_0 -> h_2
    h_0 -> h_2 : inverted_bottleneck(288, 96, 3)
    h_0 -> h_2 : inverted_bottleneck(288, 96, 7)
    h_0 -> h_2 : inverted_bottleneck(576, 96, 7)
    h_2 -> out
    h_2 -> out : inverted_bottleneck(288, 96, 7)
    h_2 -> out : inverted_bottleneck(576, 96, 3)
    h_2 -> out : inverted_bottleneck(576, 96, 5)
}

motif stage_width320 {
    in x
    x -> out : inverted_bottleneck(576, 320, 3)
    x -> out : inverted_bottleneck(576, 320, 5)
    x -> out : inverted_bottleneck(576, 320, 7)
    x -> out : inverted_bottleneck(1152, 320, 3)
    x -> out : inverted_bottleneck(1152, 320, 5)
}

network search : image(3, 224, 224) -> classes(1000) {
    in x
    node stem = x : conv(32, 3, 2) > bn > relu6 > inverted_bottleneck_width16
    node a = stem : stage_width24
    node b = a : stage(72, 40, 7, 7)
    node c = b : stage_width80
    node d = c : stage_width96
    node e = d : stage(288, 192, 3, 5)
    node f = e : stage_width320
    f -> out : conv(1280, 1) > bn > relu6 > global_avg_pool > linear(1000)
}
