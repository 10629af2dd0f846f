package cli

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// collector says when garbage is collected. The nil collector leaves it to Go.
type collector struct {
	mu sync.Mutex
	// usual is the percentage (GOGC) that was set before; late says that the first collection is still to come.
	usual int
	late  bool
}

// CollectLate puts the first collection off until the heap has 16 MB instead of 4. Starting up alone takes
// 4 MB, and a collection costs what reading and printing a small file does. The collection itself brings back what was
// set before, so that nothing larger takes more memory.
func CollectLate(getenv func(string) string) *collector {
	if getenv("GOGC") != "" { // the user knows better
		return nil
	}
	c := &collector{usual: debug.SetGCPercent(400), late: true}
	runtime.AddCleanup(new([64]byte), (*collector).settle, c)
	return c
}

// settle ends the waiting for the first collection.
func (c *collector) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late {
		c.late = false
		debug.SetGCPercent(c.usual)
	}
}

// Often collects when the heap has grown by half, for work that holds much and makes little garbage: collecting costs
// it less than the memory is worth. Done puts it back.
func (c *collector) Often() (done func()) {
	if c == nil {
		return func() {}
	}
	c.settle()
	before := debug.SetGCPercent(min(50, c.usual))
	return func() { debug.SetGCPercent(before) }
}
