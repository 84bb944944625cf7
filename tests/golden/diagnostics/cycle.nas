// The whole cycle is shown, edge by edge.
network n : vector(4) -> classes(4) {
    in x
    node h[3]
    x -> h[0]
    h[0] -> h[1] : relu
    h[1] -> h[2] : tanh
    h[2] -> h[0] : sigmoid
    h[2] -> out
}
