// Strings are values; where something else is expected, the message says so.
let mode = "same"

motif m(mode = "fast") {
    in x
    assert mode == "fast", "only fast"
    x -> out : if mode == "fast" then relu else conv()
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : m > m("fast")
}
network n2 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : conv("3") > conv(3, k = "big") > bn(affine = "yes")
}
network n3 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : m("slow")
}
network n4 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    let a = "b" + 1
    node y = "x"
    x -> out : "relu"
}
