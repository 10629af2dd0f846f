//go:build !race

package dist

const underRace = false
