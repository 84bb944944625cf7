// A choice becomes a sum of its candidates; a switch, an identity and a join of one value are gone.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node y = x : choose { relu, identity }
    y -> out : optional tanh
}
