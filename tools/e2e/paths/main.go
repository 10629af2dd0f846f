package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the rounds are drawn from")
	rounds := flag.Int("rounds", 10, "how many rounds")
	from := flag.Int("from", 1, "number of the first round: a seed can be played in parts")
	flag.Parse()
	for n := *from; n < *from+*rounds; n++ {
		if _, err := fmt.Fprintf(os.Stdout, "%d/%d  %s\n", *seed, n, plan(round(*seed, n))); err != nil {
			os.Exit(1)
		}
	}
}
