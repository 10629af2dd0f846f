// Command json encodes and decodes documents with github.com/goccy/go-json. It does a fixed amount of work,
// for trials.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"

	"github.com/goccy/go-json"
)

// order is a typical document of a shop, with texts, numbers, lists and fields that are often empty.
type order struct {
	ID       int64             `json:"id"`
	Customer string            `json:"customer"`
	Paid     bool              `json:"paid"`
	Note     string            `json:"note,omitempty"`
	Lines    []line            `json:"lines"`
	Labels   map[string]string `json:"labels"`
}

type line struct {
	Article string   `json:"article"`
	Count   int      `json:"count"`
	Price   float64  `json:"price"`
	Tags    []string `json:"tags,omitempty"`
}

func main() {
	times := flag.Int("n", 100, "how many times everything is written and read")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := run(*times, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "json:", err)
		os.Exit(1)
	}
}

func run(times int, profile string) error {
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	orders := some(200)
	for range times {
		text, err := json.Marshal(orders)
		if err != nil {
			return err
		}
		var again []order
		if err := json.Unmarshal(text, &again); err != nil {
			return err
		}
		if len(again) != len(orders) {
			return fmt.Errorf("%d orders went in, %d came out", len(orders), len(again))
		}
	}
	return nil
}

func some(n int) []order {
	orders := make([]order, n)
	for i := range orders {
		o := order{
			ID: int64(i) * 7919, Customer: "customer \"" + strconv.Itoa(i) + "\"", Paid: i%3 == 0,
			Labels: map[string]string{"shop": "Zürich", "no": strconv.Itoa(i)},
		}
		for j := range 1 + i%8 {
			o.Lines = append(o.Lines, line{
				Article: "article\t" + strconv.Itoa(j), Count: j + 1, Price: float64(i*j) / 7,
				Tags: []string{"new", "<blue>"}[:j%3%2+j%2],
			})
		}
		orders[i] = o
	}
	return orders
}
