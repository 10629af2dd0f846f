//go:build !race

package meta

// randomSteps are how often random keys change, of each store.
const randomSteps = 10
