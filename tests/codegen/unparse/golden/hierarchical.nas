motif conv_bn_relu(width, k) {
    in x
    x -> out : conv(width, k) > bn > relu
}

motif depthwise_bn_relu {
    in x
    x -> out : depthwise > bn > relu
}

motif separable_bn_relu(width, stride = 1) {
    in x
    x -> out : depthwise(3, stride) > conv(width, 1) > bn > relu
}

cell motif_1(width) {
    in x
    node last_x
    x -> last_x : depthwise_bn_relu
    x -> last_x : separable_bn_relu(width)
    node h_1
    x -> h_1 : conv_bn_relu(width, 1)
    x -> h_1 : separable_bn_relu(width)
    x -> h_1 : avg_pool
    node last : concat
    last_x -> last
    h_1 -> last : max_pool
    last -> out : conv_bn_relu(width, 1)
}

cell motif_2(width) {
    in x
    node last = x : avg_pool
    last -> out : conv_bn_relu(width, 1)
}

cell motif_4(width) {
    in x
    node h[2]
    x -> h[0] : max_pool
    x -> h[0]
    x -> h[1] : separable_bn_relu(width)
    h[0] -> h[1] : depthwise_bn_relu
    h[0] -> h[1] : separable_bn_relu(width)
    node last_h_1
    h[1] -> last_h_1 : conv_bn_relu(width, 1)
    h[1] -> last_h_1 : avg_pool
    h[1] -> last_h_1
    node last : concat
    x -> last
    h[0] -> last : avg_pool
    last_h_1 -> last
    last -> out : conv_bn_relu(width, 1)
}

cell motif_5(width) {
    in x
    node h_1
    x -> h_1 : max_pool
    x -> h_1
    node last
    h_1 -> last : conv_bn_relu(width, 1)
    h_1 -> last : max_pool
    last -> out : conv_bn_relu(width, 1)
}

cell motif_3(width) {
    in x
    node last_x
    x -> last_x : separable_bn_relu(width)
    x -> last_x
    node h_0 = x : max_pool
    node last_h_0
    h_0 -> last_h_0 : conv_bn_relu(width, 1)
    h_0 -> last_h_0 : separable_bn_relu(width)
    node last = concat(last_x, last_h_0)
    last -> out : conv_bn_relu(width, 1)
}

cell top(width) {
    in x
    node h[3]
    x -> h[0] : motif_2(width)
    x, h[0] -> h[1] : motif_1(width)
    x -> h[2] : motif_2(width)
    x, h[0] -> h[2] : motif_5(width)
    h[1] -> h[2] : motif_1(width)
    h[1] -> h[2] : motif_2(width)
    h[1] -> h[2] : motif_3(width)
    node last_h_2
    h[2] -> last_h_2 : motif_4(width)
    h[2] -> last_h_2 : motif_5(width)
    node last : concat
    x -> last : motif_1(width)
    h[0] -> last : motif_4(width)
    last_h_2 -> last
    last -> out : conv_bn_relu(width, 1)
}

network search : image(3, 32, 32) -> classes(10) {
    in x
    node a = x : conv_bn_relu(16, 3) > top(16)
    node b = a : separable_bn_relu(32, 2) > top(32)
    node c = b : separable_bn_relu(64, 2) > top(64)
    c -> out : separable_bn_relu(64) > global_avg_pool > linear(10)
}
