package measure

import (
	"bufio"
	"context"
	"io"
	"os"
	"testing"
	"time"
)

// TestMain makes the test binary act as the measured program or the launcher if it is started as such.
func TestMain(m *testing.M) {
	child := os.Getenv("MEASURE_CHILD")
	if len(os.Args) > 1 {
		child = "" // the launcher, or the test itself
	}
	switch child {
	case "eat":
		block := make([]byte, 64<<20)
		for i := range block {
			block[i] = byte(i)
		}
		time.Sleep(30 * time.Millisecond)
		os.Stdout.Write(block[:1])
		os.Exit(0)
	case "fail":
		os.Stderr.WriteString("no such thing\n")
		os.Exit(3)
	}
	if len(os.Args) > 1 && os.Args[1] == os.Args[0] { // started by a Runner
		os.Exit(Launch(os.Args[1:], os.NewFile(3, "report")))
	}
	os.Exit(m.Run())
}

// runner returns a Runner that uses the test binary as its launcher.
func runner() Runner { return Runner{Launcher: os.Args[0]} }

func child(what string) Program {
	return Program{Path: os.Args[0], Env: []string{"MEASURE_CHILD=" + what}}
}

// TestRunSeesTimeAndMemoryOfTheChild checks the wall time, CPU time and peak memory of a child process.
func TestRunSeesTimeAndMemoryOfTheChild(t *testing.T) {
	c, err := runner().Run(context.Background(), child("eat"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Wall < 30*time.Millisecond || c.CPU <= 0 {
		t.Errorf("wall %v, cpu %v of a child that works and sleeps 30 ms", c.Wall, c.CPU)
	}
	if c.PeakRSS < 64<<20 {
		t.Errorf("peak RSS %d of a child that fills 64 MiB", c.PeakRSS)
	}
}

// TestRunToReaderTimesTheFirstByte checks that the time of the first byte is measured.
func TestRunToReaderTimesTheFirstByte(t *testing.T) {
	var text []byte
	c, err := runner().RunToReader(context.Background(), child("eat"), func(r io.Reader) (err error) {
		text, err = io.ReadAll(bufio.NewReader(r))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(text) != 1 || c.FirstByte < 30*time.Millisecond || c.FirstByte > c.Wall {
		t.Errorf("read %d bytes, first after %v of %v", len(text), c.FirstByte, c.Wall)
	}
}

// TestMemoryOfTheParentDoesNotCount checks that the memory of the parent is not counted in the child's peak.
func TestMemoryOfTheParentDoesNotCount(t *testing.T) {
	block := make([]byte, 128<<20)
	for i := range block {
		block[i] = byte(i)
	}
	c, err := runner().Run(context.Background(), child("eat"))
	if err != nil {
		t.Fatal(err)
	}
	if c.PeakRSS > 120<<20 {
		t.Errorf("peak RSS %d of a child that fills 64 MiB, started by a process of %d", c.PeakRSS, len(block))
	}
	if block[1] != 1 {
		t.Error("the block was not filled")
	}
}
