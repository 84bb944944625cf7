// A problem inside a motif shows the uses that led to it, innermost first.
motif inner(width) {
    in x
    x -> out : conv(width, 3)
}

motif outer(width) {
    in x
    x -> out : relu > inner(width / 2)
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : outer(5)
}
