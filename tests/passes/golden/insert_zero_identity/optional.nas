// An optional operation is nothing but a zero switch, and gets no other.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : optional tanh
}
