//go:build race

package meta

// randomSteps are few: each takes ten times as long, and does what those before it did.
const randomSteps = 3
