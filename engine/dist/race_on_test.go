//go:build race

package dist

// underRace: the specification, plain Go over memory, takes twenty times as long.
const underRace = true
