// Errors that used to be reported twice, or with a meaningless second message.
motif twice {
    in x
    node h = x : relu
    node h = h : relu
    out h
}

motif guarded(r) {
    in x
    assert channels(x) % r == 0, "the ratio does not divide the channels"
    x -> out : conv(channels(x) / r)
}

motif joined {
    in x
    node c = x, x : concat
    out c
}

motif unused {
    in x
    let u = conv(8)(x)
    out x
}

motif given {
    in x
    node h = conv(8, x)
    out h
}

motif compared {
    in x
    node h = x > conv(8)
    out h
}

network n1 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : twice
}

network n2 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : guarded(2)
}

network n3 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : joined
}

network n4 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : unused
}

network n5 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : given
}

network n6 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : compared
}

network n7 : image(3, 8, 8) -> classes(10) {
    in x, y
    out x
}

network n8 : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : global_avg_pool
}

motif open {
    in x /* never closed
