// Package gctune controls when Go collects garbage. It delays the first collection while the process starts and
// collects more often on request. Otherwise Go's own pace applies.
//
// It is a separate package, and imports only os, runtime, runtime/debug and sync, because Go initializes packages
// in the order of their import paths, each as soon as its imports are initialized. The variable process is
// therefore set before the libraries that make most of the garbage at startup are initialized. Code in main would
// run after the first collection.
package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// process is nil if the user has set GOGC.
var process = delayFirst(os.Getenv)

// Process returns the collector of this process, or nil if the user has set GOGC. A nil Collector changes nothing.
func Process() *Collector { return process }

// A Collector adjusts the garbage collection target (GOGC) of the process.
type Collector struct {
	mu sync.Mutex
	// percent is the GOGC percentage that was set before. pending reports whether the first collection is still
	// pending.
	percent int
	pending bool
}

// delayFirst delays the first collection until the heap has 16 MB instead of 4 MB. Startup alone takes 4 MB, and a
// collection costs as much as reading and printing a small file. The first collection restores the previous percentage,
// so larger heaps take no more memory. It returns nil if GOGC is set.
func delayFirst(getenv func(string) string) *Collector {
	if getenv("GOGC") != "" { // the user's setting wins
		return nil
	}
	c := &Collector{percent: debug.SetGCPercent(400), pending: true}
	runtime.AddCleanup(new([64]byte), (*Collector).restore, c)
	return c
}

// restore restores the usual percentage if the first collection is still pending.
func (c *Collector) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending {
		c.pending = false
		debug.SetGCPercent(c.percent)
	}
}

// LimitGrowth collects whenever the heap has grown by half. Use it for work that holds a lot of memory and makes little
// garbage, because collections then cost less than the memory. done restores the previous percentage.
func (c *Collector) LimitGrowth() (done func()) {
	if c == nil {
		return func() {}
	}
	c.restore()
	before := debug.SetGCPercent(min(50, c.percent))
	return func() { debug.SetGCPercent(before) }
}
