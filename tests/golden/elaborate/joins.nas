// All joins, of edges into a node and of nodes in an expression; a single edge needs none.
network n : image(2, 4, 4) -> image(8, 4, 4) {
    in x
    node a = x : relu
    node b : concat
    a, x -> b
    node c : mean
    a, x -> c
    out concat(b, product(a, c), sum(a, a))
}
