// Several inputs and outputs, of networks and of motifs, and arrays of inputs.
motif swap {
    in a, b
    out b, a
}

motif gather(count) {
    in f[count]
    out concat(f)
}

network n : image(1, 4, 4), vector(3) -> vector(3), image(3, 4, 4) {
    in picture, label
    node p, q = swap(picture, label)
    node h[2] = q : relu
    node g = gather(3)(h, picture)
    out p, g
}
