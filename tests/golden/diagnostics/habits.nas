// Syntax of other languages, with the equivalent here.
motif a {
    in x
    node h = x : conv(8)
    h => out
}

motif b {
    in x
    h = conv(8)(x)
}

motif c {
    in x
    return x
}

motif d {
    in x
    while true { x -> out }
}

set e = { dropout(.2) }

set f = { dropout(1e) }

set g = { conv(out = 8) }

set h = { [i for i in range(2)] }

motif i {
    in x
    node y = z : relu
    node z = x : relu
    out y
}

motif j {
    in x
    motif inner { in y out y }
    out x
}

motif k {
    in x
    node c = x
    cell -> out
}

motif l {
    in x
    node h = x : conv(8) relu
    out h
}

motif m {
    in x
    node h = x : conv(8)) > relu
    out h
}
