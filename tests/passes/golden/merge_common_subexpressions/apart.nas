// What must stay apart: weights, gates, and the two sides of the border of a cell.
cell c {
    in x
    x -> out : relu
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : choose { relu, tanh } > bn
    x -> out : choose { relu, tanh } > bn
    x -> out : c
    x -> out : c
}
