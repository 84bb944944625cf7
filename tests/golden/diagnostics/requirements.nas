// Conditions on edges that make no sense, or can never hold.
motif forms(n = 2) {
    in x
    node h[2]
    x -> h[0] : optional relu
    x, h[0] -> h[1] : optional relu
    require inputs(h) == 2
    require inputs(h[1]) != 1
    require 2 == inputs(h[1])
    require inputs(h[1], x) == 1
    require edge(x, h[1]) == 1
    require edge(x)
    require edges
    require inputs(h[1]) == 1 or edge(x, h[0])
    require edge(x, h[5])
    require edges <= 1 / 2
    require n
    require false
    require true implies 1 == 2
    concat(h) -> out : relu
}

motif never {
    in x
    node h[2]
    x -> h[0] : choose exactly 1 { relu, tanh }
    x, h[0] -> h[1] : optional relu
    x -> h[1] : conv()
    require inputs(h[1]) == 4
    require inputs(h[1]) < 1
    require inputs(h[0]) == 0
    require edges > 2
    require not edge(x, h[0])
    require inputs(x) == 1
    require edge(h[1], x)
    concat(h) -> out : relu
}

motif twice {
    in x
    node h
    x -> h : optional relu
    x -> h : optional tanh
    require edge(x, h)
    h -> out
}

network one : image(3, 8, 8) -> image(6, 8, 8) {
    in x
    x -> out : forms
}

network two : image(3, 8, 8) -> image(6, 8, 8) {
    in x
    x -> out : never
}

network three : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : twice
}
