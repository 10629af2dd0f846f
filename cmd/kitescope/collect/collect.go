// Package collect says when garbage is collected: late while the process starts, often where asked, in between as Go does.
//
// It imports nothing but os and runtime and is a package of its own because of when Go initialises packages: by their import
// paths, each as soon as what it imports is. So the variable below is set before the libraries that make most of the garbage of
// a start, and what a function main did would come after the first collection.
package collect

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// process is nil where the user's GOGC is to be kept.
var process = late(os.Getenv)

// Process is the collector of this process, nil if the user has set GOGC. The nil Collector leaves everything to Go.
func Process() *Collector { return process }

// A Collector changes how much garbage there may be.
type Collector struct {
	mu sync.Mutex
	// usual is the percentage (GOGC) that was set before; late says that the first collection is still to come.
	usual int
	late  bool
}

// late puts the first collection off until the heap has 16 MB instead of 4. Starting up alone takes
// 4 MB, and a collection costs what reading and printing a small file does. The collection itself brings back what was
// set before, so that nothing larger takes more memory.
func late(getenv func(string) string) *Collector {
	if getenv("GOGC") != "" { // the user knows better
		return nil
	}
	c := &Collector{usual: debug.SetGCPercent(400), late: true}
	runtime.AddCleanup(new([64]byte), (*Collector).settle, c)
	return c
}

// settle ends the waiting for the first collection.
func (c *Collector) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late {
		c.late = false
		debug.SetGCPercent(c.usual)
	}
}

// Often collects when the heap has grown by half, for work that holds much and makes little garbage: collecting costs
// it less than the memory is worth. Done puts it back.
func (c *Collector) Often() (done func()) {
	if c == nil {
		return func() {}
	}
	c.settle()
	before := debug.SetGCPercent(min(50, c.usual))
	return func() { debug.SetGCPercent(before) }
}
