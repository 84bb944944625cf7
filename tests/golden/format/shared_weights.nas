// `share` is a statement like `let`.
network   n:image(3,8,8)->image(4,8,8){in x share   f=conv(4)>bn // the tower
share g=f>relu
x->out:f x->out:g}
