// Package place finds where in a cluster requests break: it holds the graph of what each kind of request passes and depends on, judges
// each component by evidence that knows no particular fault, and walks from a kind of request that clients feel to the first component
// that is bad and whose own dependencies are good.
package place
