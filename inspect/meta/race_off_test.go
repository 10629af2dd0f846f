//go:build !race

package meta

// randomSteps is the number of random changes to each store.
const randomSteps = 10
