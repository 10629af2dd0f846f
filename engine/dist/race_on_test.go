//go:build race

package dist

// underRace is set because the specification, plain Go over memory, takes twenty times as long under the race
// detector.
const underRace = true
