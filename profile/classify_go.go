package profile

import (
	"path"
	"strings"
)

// classifyGo is the kind of a function of Go. The names and files are those of Go's src/runtime,
// go1.20 to go1.26.
func classifyGo(name, file string) Kind {
	// perf shows the linker's names: assembly has the suffix .abi0 there, which runtime/pprof leaves out.
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".abi0"), ".abiinternal")
	if strings.HasPrefix(path.Base(file), "_cgo_") || strings.Contains(name, "._Cfunc_") || strings.Contains(name, "._cgoexp_") || hasAnyPrefix(name, "_cgo_", "_cgoexp_") {
		return Kind{Class: Cgo}
	}
	pkg := packageOfGo(name)
	switch pkg {
	case "runtime":
		return classifyRuntime(strings.TrimPrefix(name, "runtime."), file)
	case "runtime/cgo":
		return Kind{Class: Cgo}
	case "runtime/internal/syscall", "internal/runtime/syscall", "internal/runtime/syscall/linux":
		// Both are only the instruction, and EpollWait, which waits for the network in runtime.netpoll.
		if strings.HasSuffix(name, ".EpollWait") {
			return Kind{Class: Idle}
		}
		return Kind{Class: Syscall}
	case "syscall", "golang.org/x/sys/unix":
		if call := name[len(pkg)+1:]; hasAnyPrefix(call, "Syscall", "RawSyscall", "rawSyscall", "rawVforkSyscall", "runtime_", "syscall", "rawsyscall") {
			return Kind{Class: Syscall}
		}
	case "":
		if path.Base(path.Dir(file)) == "runtime" || file == "" && isBareAssembly(name) {
			return classifyRuntime(name, file)
		}
	}
	switch {
	case pkg == "internal/runtime/gc" || strings.HasPrefix(pkg, "internal/runtime/gc/"):
		return Kind{Class: GC}
	case strings.HasSuffix(file, ".s") || file == "" && isKernelOfAssembly(name):
		return Kind{Class: Assembly}
	case hasAnyPrefix(pkg, "runtime/internal/", "internal/runtime/"):
		return Kind{Class: Runtime}
	case strings.Contains(name, ".runtime_"):
		return Kind{Class: Runtime} // what the runtime gives to sync, internal/poll and others by go:linkname
	}
	return Kind{Class: GoCode}
}

// classifyRuntime is the kind of a function of package runtime, by its name without the package.
func classifyRuntime(name, file string) Kind {
	base := path.Base(file)
	switch {
	case isCgoBridge(name):
		return Kind{Class: Cgo}
	case runtimeWaits(name):
		return Kind{Class: Idle}
	case isCollector(name, base):
		return Kind{Class: GC}
	case name == "_ExternalCode" || name == "_LostExternalCode" || name == "_VDSO":
		return Kind{Class: Native} // proc.go: sigprof saw an address outside of Go
	case isKernelOfAssembly(name) || hasAnyPrefix(base, "memmove_", "memclr_", "duff_") && strings.HasSuffix(base, ".s"):
		return Kind{Class: Assembly}
	case isRuntimeSyscall(name):
		return Kind{Class: Syscall}
	}
	return Kind{Class: Runtime}
}

// isCgoBridge: cgocall.go, and the assembly that changes stacks between Go and C.
func isCgoBridge(name string) bool {
	return hasAnyPrefix(name, "cgocall", "asmcgocall", "cgocallback", "cgoCheck", "cgoIsGoPointer", "_cgo_", "x_cgo_", "callCgo", "setg_gcc")
}

// runtimeWaits are the functions in which a thread (M) or a goroutine sleeps: lock_futex.go,
// os_linux.go, proc.go, netpoll_epoll.go and what stands in for them elsewhere.
func runtimeWaits(name string) bool {
	switch name {
	case "futexsleep", "semasleep", "notesleep", "notetsleep", "notetsleepg", "notetsleep_internal", "mPark", "stopm", "stoplockedm", "gopark",
		"goparkunlock", "usleep", "usleep_no_g", "netpoll", "epollwait", "epollpwait", "kevent", "pthread_cond_wait",
		"pthread_cond_timedwait_relative_np", "notetsleepg.func1":
		return true
	}
	return false
}

// isCollector reports whether a function exists only for garbage collection. Marking, sweeping,
// pacing and scavenging have files of their own; formats without files have the names.
func isCollector(name, base string) bool {
	switch base {
	case "mgc.go", "mgcmark.go", "mgcmark_greenteagc.go", "mgcmark_nogreenteagc.go", "mgcsweep.go", "mgcwork.go", "mgcscavenge.go", "mgcpacer.go",
		"mgcstack.go", "mgclimit.go", "mwbbuf.go":
		return true
	}
	if rest, ok := strings.CutPrefix(name, "gc"); ok && rest != "" && (rest[0] >= 'A' && rest[0] <= 'Z' || strings.HasPrefix(rest, "marknewobject")) {
		return true
	}
	if hasAnyPrefix(name, "(*gcWork)", "(*gcControllerState)", "(*gcCPULimiterState)", "(*sweepLocked)", "(*activeSweep)", "(*scavengerState)", "(*wbBuf)",
		"(*spanQueue)", "(*spanSPMC)", "(*spanInlineMarkBits)", "(*pageAlloc).scavenge", "(*mheap).reclaim", "(*mheap).scavenge", "(*mheap).nextSpanForSweep",
		"(*mspan).ensureSwept", "(*mspan).moveInlineMarks", "(*mspan).markBitsFor", "(*stackScanState)", "markroot", "wbBufFlush", "scanobject", "scanObject", "scanblock", "scanstack", "scanframe", "scanSpan",
		"scanConservative", "bgsweep", "bgscavenge", "sweepone", "greyobject", "bulkBarrierPreWrite", "spanSetScans", "tryDeferToSpanScan", "clearpools") {
		return true
	}
	switch name {
	case "GC", "_GC", "shade", "finishsweep_m", "deductSweepCredit", "getempty", "putempty", "putfull", "trygetfull", "handoff", "binarySearchTree":
		return true
	}
	return false
}

// isRuntimeSyscall are the system calls of sys_linux_*.s and its like. nanotime1 and walltime
// are not there: they ask the vDSO and mostly stay out of the kernel.
func isRuntimeSyscall(name string) bool {
	switch name {
	case "futex", "futexwakeup", "madvise", "mmap", "sysMmap", "munmap", "sysMunmap", "mincore", "read", "write", "write1", "open", "closefd", "pipe2",
		"osyield", "osyield_no_g", "tgkill", "raise", "raiseproc", "getpid", "gettid", "clone", "exit", "exitThread", "sigaltstack", "rtsigprocmask",
		"rt_sigaction", "setitimer", "timer_create", "timer_settime", "timer_delete", "sched_getaffinity", "access", "connect", "socket", "sbrk0",
		"epollctl", "epollcreate1", "fcntl", "syscall", "syscall6", "libcCall", "asmstdcall", "stdcall", "prctl", "vgetrandom1":
		return true
	}
	return false
}

// isKernelOfAssembly knows the loops in assembly that are often the leaf: of runtime
// (memmove_*.s, memclr_*.s, asm_*.s, duff_*.s) and internal/bytealg, whose inner parts have no
// package in their names.
func isKernelOfAssembly(name string) bool {
	switch strings.TrimPrefix(name, "runtime.") {
	case "memmove", "memclrNoHeapPointers", "memequal", "memequal_varlen", "memhash", "memhash32", "memhash64", "strhash", "aeshashbody", "duffcopy",
		"duffzero", "cmpbody", "cmpstring", "countbody", "indexbody", "indexbytebody", "memeqbody", "procyieldAsm", "publicationBarrier":
		return true
	}
	return hasAnyPrefix(name, "internal/bytealg.Index", "internal/bytealg.Count", "internal/bytealg.Compare", "internal/bytealg.Equal") && !strings.Contains(name, "Rabin")
}

// isBareAssembly knows functions of asm_*.s and internal/bytealg that the linker knows without a package.
func isBareAssembly(name string) bool {
	switch strings.TrimSuffix(name, ".abi0") {
	case "aeshashbody", "memeqbody", "cmpbody", "countbody", "indexbody", "indexbytebody", "gogo", "callRet", "setg_gcc", "gosave_systemstack_switch":
		return true
	}
	return strings.HasPrefix(name, "gcWriteBarrier")
}

var (
	// closureRx is how Go's compiler ends names that it made up.
	closureRx = NewPattern(`(\.func\d+|\.gowrap\d+|\.deferwrap\d+|-fm|-range\d+)(\.\d+)*$`)
	// javaRx is package.package.Class.method, as JFR and perf maps with dots have it.
	javaRx = NewPattern(`^(?:[a-z][\w$]*\.){2,}[A-Z][\w$]*(?:\.[\w$<>]+|$)`)
	// cloneRx is how GCC and Clang end the names of copies of functions.
	cloneRx = NewPattern(`\.(part|isra|constprop|cold|lto_priv|llvm|localalias|clone|__uniq|omp_fn|_omp_fn|avx\w*|sse\w*|resolver|default|arch_\w+)(\.|$)`)
	goRx    = NewPattern(`^[a-zA-Z_][\w~%.-]*\.[\pL_(]`)
)

// isGoName reports whether a function without a file has a name as Go's linker makes them.
func isGoName(name string) bool {
	switch {
	case strings.Contains(name, "::") || strings.HasPrefix(name, "_Z") || strings.ContainsAny(name, " ;"):
		return false
	case hasAnyPrefix(name, "runtime.", "main.", "type:.", "type..", "go:", "go.") || strings.Contains(name, ".(*") || strings.Contains(name, "[...]"):
		return true
	case closureRx().MatchString(name):
		return true
	case isJavaName(name) || cloneRx().MatchString(name) || strings.HasPrefix(name, "/"):
		return false
	}
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		return strings.Contains(name[slash:], ".")
	}
	return goRx().MatchString(name)
}

// isJavaName reports whether a name is Java's: with dots, or as perf-map-agent and
// async-profiler write it, Lorg/pkg/Class;::method.
func isJavaName(name string) bool {
	if strings.HasPrefix(name, "L") && strings.Contains(name, ";::") {
		return true
	}
	return javaRx().MatchString(name) && !closureRx().MatchString(name)
}
