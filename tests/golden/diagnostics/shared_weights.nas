// What `share` does not accept: uses that need different weights, weights without a use, names, and things that are no operations.
motif unused {
    in x
    share never = conv(4)
    x -> out : relu
}

network sizes : image(3, 8, 8) -> image(4, 8, 8) {
    in x
    share f = conv(4) > bn
    x -> out : unused > f > f
}

network channels_of_a_primitive : image(3, 8, 8) -> image(4, 8, 8) {
    in x
    share f = conv(4)
    x -> out : f > f
}

network lengths : image(3, 8, 8) -> classes(4) {
    in x
    share f = conv(4) > flatten > linear(4)
    node a = x : f
    node b = x : max_pool(2, 2) > f
    a, b -> out
}

network widths : image(3, 8, 8) -> image(4, 8, 8) {
    in x
    let w = choose { 2, 4 }
    share f = conv(4)
    node a = x : conv(w) > f
    node b = x : conv(4) > f
    a, b -> out
}

network others : image(3, 8, 8) -> image(4, 8, 8) {
    in x
    share f = 3
    share f = conv(4)
    x -> out : f
}

network called : image(3, 8, 8) -> image(4, 8, 8) {
    in x
    share f = conv(4)
    share kernels = conv(4, choose { 2, 3 }, padding = "same")
    node y = f(16)
    y, x -> out : kernels
}
