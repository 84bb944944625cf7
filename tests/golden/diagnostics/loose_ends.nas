// All nodes without incoming edges are reported together; unused nodes only once there are none.
motif unfed {
    in x
    node a, b
    a, b, x -> out
}

motif dead {
    in x, unused
    node a = x : relu
    node b[2] = a : tanh
    a, b[0] -> out
}

network one : vector(4) -> classes(4) {
    in x
    x -> out : unfed
}

network two : vector(4) -> classes(4) {
    in x
    out dead(x, x)
}
