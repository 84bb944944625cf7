motif conv_pool(width) {
    in x
    x -> out : conv(width, 5, padding = 0, bias = true) > max_pool(2, 2)
}

network lenet5 : image(1, 28, 28) -> classes(10) {
    in x
    x -> out : conv_pool(20) > conv_pool(50) > flatten > linear(500) > relu > linear(10)
}
