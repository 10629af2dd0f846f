package profile

// Class is the category of a frame's code. The class of the leaf is the category of the time spent in a
// sample.
type Class uint8

// The classes.
const (
	// Unknown is the class of a frame without a known name or mapping.
	Unknown Class = iota
	// GoCode is compiled Go outside the runtime.
	GoCode
	// Runtime is the Go runtime: scheduler, allocator, maps, channels.
	Runtime
	// GC is garbage collection, in the background and in assists.
	GC
	// Cgo is the bridge between Go and C, e.g. runtime.cgocall, _Cfunc_x.
	Cgo
	// Native is code compiled outside of Go, e.g. from C or C++.
	Native
	// Assembly is hand-written assembly of Go: memmove, memclr, bytealg, crypto.
	Assembly
	// Syscall is the entry into the kernel, from Go or from C.
	Syscall
	// Kernel is kernel code, as recorded by perf.
	Kernel
	// Idle is waiting: futex sleeps of idle threads, epoll, perf's swapper.
	Idle
	// Managed is code of another runtime (e.g. Java, JavaScript), interpreted or compiled just in time.
	Managed
)

var classNames = [...]string{
	"unknown", "go", "runtime", "gc", "cgo", "native", "assembly", "syscall", "kernel", "idle", "managed",
}

func (c Class) String() string { return classNames[c] }

// Classes returns all classes in the order of their values.
func Classes() []Class {
	all := make([]Class, len(classNames))
	for i := range all {
		all[i] = Class(i)
	}
	return all
}
