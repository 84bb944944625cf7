// A sum that only a sum of the same motif reads is part of that; one that two read stays.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node y
    x, x -> y : choose { relu, tanh }
    x -> y : swish
    y -> out : bn
    y -> out : tanh
}
