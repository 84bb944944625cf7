//! Every statement and expression, badly formatted.
//!second line
import"std.nas"
import   "darts.nas"as  darts // aligned
/// documentation
let a=-1+2*3^2-(4 - -5)/6%7   // and this
let  longer_name=[1,2,3,] 
set s(k=3,stride =1)={conv(8,k,stride),max_pool(k,stride)}|{bn  for i in 0..3 for j in [1,2] if i>j and not(i==2)}-{relu}
op attention( heads )from"package.module:Attention"
motif m{in x,y[2] node a,b:concat node c[4] node d[i in 0..4]=x:conv(8*i)>bn node e,f=darts.preprocess(8,true,false)(x,x)
x,y->a,b:choose 1 s(3) x->b y[0]->c:optional choose{relu,tanh}
for i in 0..4{if i==0{x->c[i]}else if i>2 or false{x->c[i]:if i>1 then relu else tanh}else{}}
let k=floor(3/2) assert k>0,"message" out concat(c),d[0..2]}
motif empty{}
network n(width=16,cells=8):image(3,32,32)->classes(10){in x x->out:global_avg_pool>linear(10) out:mean require params<3.5M}
