// A row of equal uses is one box; what only hands on is not drawn; operations in a row share a box.
motif layer(width) {
    in x
    x -> out : choose 1 { relu, linear(width) > relu }
}

motif pass {
    in x
    out body(x)
}

motif body {
    in x
    x -> out : linear(8) > layer(8) > layer(8) > layer(8) > layer(8) > layer(8) > relu > linear(4) > linear(3)
}

network n(classes_ = 3) : vector(6) -> classes(3) {
    in x
    node y = x : linear(6) > relu > linear(6) > relu > linear(6) > relu > linear(6) > relu > linear(6) > relu > linear(6)
    y -> out : pass > linear(classes_)
}
