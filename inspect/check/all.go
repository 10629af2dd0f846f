package check

// All are the checks, in the order of the documentation. A new check is a file and a
// line here.
var All = []*Check{}
