// expected-error @+1 {{not this}}
func.func private @f()
// -----
oops
// -----
// expected-warning @below {{nor this}}
func.func private @g()
