// Sequences, images, vectors and tokens are told apart, and heads must divide the channels.

motif measured {
    in x
    assert height(x) > 1
    x -> out : relu
}

network kinds : sequence(4, 16), image(4, 4, 4) -> classes(4) {
    in s, x
    node a = s : conv(8)
    node b = x : conv1d(8)
    node c = s : conv1d(k = 40, padding = 0)
    node d = x : to_sequence > to_image(3)
    node e = s : at(16)
    sum(s, x) -> out : global_avg_pool
}

network joins : sequence(4, 16), vector(4) -> classes(4) {
    in s, v
    sum(s, v) -> out : global_avg_pool
}

network lengths : sequence(4, 16) -> classes(4) {
    in s
    node a = s : max_pool1d(2, 2)
    sum(s, a) -> out : global_avg_pool
}

network heads : sequence(6, 16) -> classes(6) {
    in s
    node a = attention(4)(s, s, s)
    node b = attention(2, 3)(s, s, s)
    node c = attention(2)(s, s)
    sum(a, b, c) -> out : at(0)
}

network text : tokens(16) -> classes(4) {
    in t
    t -> out : linear(4)
}

network image_text : image(4, 4, 4) -> classes(4) {
    in x
    x -> out : embedding(10, 4) > at(0)
}

network sizes : sequence(4, 16) -> classes(4) {
    in s
    s -> out : measured > conv1d(k = 4) > linear(3)
}
