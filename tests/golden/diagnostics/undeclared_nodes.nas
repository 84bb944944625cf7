// A node that is not declared is reported once, with the declaration to add; a node is not a variable.
network a : image(3, 8, 8) -> classes(10) {
    node h = x : conv(8)
    h, x -> out : global_avg_pool > linear(10)
}

motif b {
    x -> out : relu
}

network c : image(3, 8, 8) -> classes(10) {
    in x
    x -> h : conv(8)
    h -> out : global_avg_pool > linear(10)
}

network d : image(3, 8, 8) -> classes(10) {
    in x
    node h = x : conv(3)
    for i in 0..3 {
        node h = h : conv(3)
    }
    h -> out : global_avg_pool > linear(10)
}

network e : image(3, 8, 8) -> classes(10) {
    in x
    node h = x : conv(3)
    node y = h + x
    y -> out : global_avg_pool > linear(10)
}

network f : image(3, 8, 8) -> classes(10) {
    in x
    node h[4] = x then h[0] : relu
    sum(h) -> out : global_avg_pool > linear(10)
}
