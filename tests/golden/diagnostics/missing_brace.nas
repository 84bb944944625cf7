// A missing brace is reported at its opening brace, and the next definition is still read.
motif open {
    in x
    for i in 0..2 {
        x -> out : relu
}

motif next {
    in x
    x -> out : unknown
}
