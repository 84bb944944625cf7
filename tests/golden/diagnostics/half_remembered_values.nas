// Choices of numbers and requirements that parse, but not as they are meant.

network n0 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : conv(choose 16, 32)
}

network n1 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : conv(choose [16, 32])
}

network n2 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : conv({ 16, 32 })
}

network n3 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : choose { 3, 5 }
}

network n4 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node h
    x -> h : optional relu
    require edges(h) == 2
    h -> out
}

network n5 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node h
    x -> h : optional relu
    require h.inputs == 1
    h -> out
}

network n6 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : optional relu
    require parameters < 1M
}
