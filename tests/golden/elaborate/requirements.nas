// Conditions on edges, in every use of a cell. Those that always hold are left out.
cell block {
    in x, y
    node h[2]
    for j in 0..2 {
        x, y, h[0..j] -> h[j] : choose 1 { relu, tanh }
        require inputs(h[j]) == 2
    }
    require edge(x, h[1]) and edge(y, h[1]) implies edge(h[0], h[1])
    require not edge(x, h[1]) or edge(x, h[0]) and edge(y, h[0])
    require edges <= 4
    require edges <= 5
    require 1 == 1 or edge(x, h[1])
    out sum(h)
}

network net : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a = block(x, x)
    out block(x, a)
}
