package main

import (
	"flag"
	"fmt"
	"strings"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the rounds are drawn from")
	rounds := flag.Int("rounds", 10, "how many rounds")
	flag.Parse()
	for n := 1; n <= *rounds; n++ {
		fmt.Printf("%d/%d  %s\n", *seed, n, plan(round(*seed, n)))
	}
}

func plan(draws []Draw) string {
	var words []string
	for _, d := range draws {
		text := d.String()
		if d.Kind.Decoy {
			text += " (only looks like a fault)"
		}
		words = append(words, text)
	}
	return strings.Join(words, " + ")
}
