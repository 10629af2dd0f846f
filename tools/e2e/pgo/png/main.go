// Command png encodes pictures with the PNG encoder of github.com/anthonynsimon/bild. It does a fixed amount
// of work, for trials.
package main

import (
	"flag"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"runtime/pprof"

	"github.com/anthonynsimon/bild/imgio"
)

func main() {
	times := flag.Int("n", 12, "how many pictures are encoded")
	size := flag.Int("size", 256, "their width and height")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := run(*times, *size, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "png:", err)
		os.Exit(1)
	}
}

func run(times, size int, profile string) error {
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
	encode := imgio.PNGEncoder()
	img := picture(size)
	for range times {
		if err := encode(io.Discard, img); err != nil {
			return err
		}
	}
	return nil
}

// picture returns a picture with smooth and rough areas, like a photograph, so both the filters and the
// compressor of the encoder have work to do.
func picture(size int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		x, y := i/4%size, i/4/size
		img.Pix[i] = byte(x*(1+i%4) + y)
		if (x/16+y/16)%2 == 0 {
			img.Pix[i] += byte(rng.IntN(32))
		}
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}
