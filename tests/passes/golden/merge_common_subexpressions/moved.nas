// Work that candidates and other edges of one value share is computed once; convolutions have weights and stay.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node p = x : tanh
    p -> out : choose { relu > conv(3), relu > conv(3, 5), max_pool(3) > bn(false) }
    p -> out : max_pool(3) > bn(false)
}
