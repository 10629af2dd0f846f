package profile

// Class is what kind of code a frame is, and so, taken over the leaves of samples, what the
// time was spent on.
type Class uint8

// The classes.
const (
	// Unknown: no name and no mapping tell.
	Unknown Class = iota
	// GoCode is compiled Go outside the runtime.
	GoCode
	// Runtime is Go's runtime: scheduler, allocator, maps, channels.
	Runtime
	// GC is the garbage collector's work, background and assists.
	GC
	// Cgo is the bridge between Go and C: runtime.cgocall, _Cfunc_x.
	Cgo
	// Native is C, C++ and the like, compiled outside of Go.
	Native
	// Assembly is Go's hand-written assembly: memmove, memclr, bytealg, crypto.
	Assembly
	// Syscall is the entry into the kernel, from Go or from C.
	Syscall
	// Kernel is code of the kernel, as perf shows it.
	Kernel
	// Idle is waiting: futex sleeps of idle threads, epoll, perf's swapper.
	Idle
	// Managed is code of another runtime: Java, JavaScript, interpreted or compiled just in time.
	Managed
)

var classNames = [...]string{"unknown", "go", "runtime", "gc", "cgo", "native", "assembly", "syscall", "kernel", "idle", "managed"}

func (c Class) String() string { return classNames[c] }

// Classes are all, in the order of their values.
func Classes() []Class {
	all := make([]Class, len(classNames))
	for i := range all {
		all[i] = Class(i)
	}
	return all
}
