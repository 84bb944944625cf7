// Common mistakes, each with its hint.
motif count(k) {
    in x
    x -> out : choose k { relu, tanh }
}

motif counted(k, s) {
    in x
    x -> out : choose exactly k s
}

motif uncounted(s) {
    in x
    x -> out : choose exactly s > relu
}

motif bare {
    in x
    x -> out : relu > if true then bn else tanh
}

motif hidden(width) {
    in x
    x -> out : conv(width(x))
}

motif two {
    in x
    node a, b = x : relu
    out sum(a, b)
}

motif into {
    in x
    x -> relu(x)
    out x
}

network one : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : hidden(3)
}

network two_nodes : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : two
}

network into_a_result : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : into
}
