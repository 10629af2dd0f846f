//go:build race

package meta

// randomSteps is small, because each step takes ten times as long and covers the same code.
const randomSteps = 3
