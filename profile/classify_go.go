package profile

import (
	"path"
	"strings"
)

// classifyGo returns the kind of a Go function. Names and files are those of src/runtime in go1.20 to go1.26.
func classifyGo(name, file string) Kind {
	// perf shows linker names, in which assembly functions have the suffix .abi0. runtime/pprof omits it.
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".abi0"), ".abiinternal")
	if strings.HasPrefix(path.Base(file), "_cgo_") || strings.Contains(name, "._Cfunc_") ||
		strings.Contains(name, "._cgoexp_") || hasAnyPrefix(name, "_cgo_", "_cgoexp_") {
		return Kind{Class: Cgo}
	}
	pkg := packageOfGo(name)
	switch pkg {
	case "runtime":
		return classifyRuntime(strings.TrimPrefix(name, "runtime."), file)
	case "runtime/cgo":
		return Kind{Class: Cgo}
	case "runtime/internal/syscall", "internal/runtime/syscall", "internal/runtime/syscall/linux":
		// These packages hold only the instruction and EpollWait, which waits for the network in
		// runtime.netpoll.
		if strings.HasSuffix(name, ".EpollWait") {
			return Kind{Class: Idle}
		}
		return Kind{Class: Syscall}
	case "syscall", "golang.org/x/sys/unix":
		if call := name[len(pkg)+1:]; hasAnyPrefix(call, "Syscall", "RawSyscall", "rawSyscall", "rawVforkSyscall",
			"runtime_", "syscall", "rawsyscall") {
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
		return Kind{Class: Runtime} // provided to sync, internal/poll and others by go:linkname
	}
	return Kind{Class: GoCode}
}

// classifyRuntime returns the kind of a function of package runtime. The name has no package.
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
		return Kind{Class: Native} // proc.go: sigprof got an address outside of Go
	case isKernelOfAssembly(name) ||
		hasAnyPrefix(base, "memmove_", "memclr_", "duff_") && strings.HasSuffix(base, ".s"):
		return Kind{Class: Assembly}
	case isRuntimeSyscall(name):
		return Kind{Class: Syscall}
	}
	return Kind{Class: Runtime}
}

// isCgoBridge reports whether a function is in cgocall.go or is assembly that switches stacks between Go and
// C.
func isCgoBridge(name string) bool {
	return hasAnyPrefix(name, "cgocall", "asmcgocall", "cgocallback", "cgoCheck", "cgoIsGoPointer", "_cgo_", "x_cgo_",
		"callCgo", "setg_gcc")
}

// runtimeWaits reports whether a thread (M) or a goroutine sleeps in the function. The names come from
// lock_futex.go, os_linux.go, proc.go, netpoll_epoll.go and their counterparts on other systems.
func runtimeWaits(name string) bool {
	switch name {
	case "futexsleep", "semasleep", "notesleep", "notetsleep", "notetsleepg", "notetsleep_internal", "mPark", "stopm",
		"stoplockedm", "gopark", "goparkunlock", "usleep", "usleep_no_g", "netpoll", "epollwait", "epollpwait",
		"kevent", "pthread_cond_wait", "pthread_cond_timedwait_relative_np", "notetsleepg.func1":
		return true
	}
	return false
}

// isCollector reports whether a function exists only for garbage collection. Marking, sweeping, pacing and
// scavenging have their own files. The names serve formats without files.
func isCollector(name, base string) bool {
	switch base {
	case "mgc.go", "mgcmark.go", "mgcmark_greenteagc.go", "mgcmark_nogreenteagc.go", "mgcsweep.go", "mgcwork.go",
		"mgcscavenge.go", "mgcpacer.go", "mgcstack.go", "mgclimit.go", "mwbbuf.go":
		return true
	}
	if rest, ok := strings.CutPrefix(name, "gc"); ok && rest != "" &&
		(rest[0] >= 'A' && rest[0] <= 'Z' || strings.HasPrefix(rest, "marknewobject")) {
		return true
	}
	if hasAnyPrefix(name, "(*gcWork)", "(*gcControllerState)", "(*gcCPULimiterState)", "(*sweepLocked)",
		"(*activeSweep)", "(*scavengerState)", "(*wbBuf)", "(*spanQueue)", "(*spanSPMC)", "(*spanInlineMarkBits)",
		"(*pageAlloc).scavenge", "(*mheap).reclaim", "(*mheap).scavenge", "(*mheap).nextSpanForSweep",
		"(*mspan).ensureSwept", "(*mspan).moveInlineMarks", "(*mspan).markBitsFor", "(*stackScanState)", "markroot",
		"wbBufFlush", "scanobject", "scanObject", "scanblock", "scanstack", "scanframe", "scanSpan", "scanConservative",
		"bgsweep", "bgscavenge", "sweepone", "greyobject", "bulkBarrierPreWrite", "spanSetScans", "tryDeferToSpanScan",
		"clearpools") {
		return true
	}
	switch name {
	case "GC", "_GC", "shade", "finishsweep_m", "deductSweepCredit", "getempty", "putempty", "putfull", "trygetfull",
		"handoff", "binarySearchTree":
		return true
	}
	return false
}

// isRuntimeSyscall reports whether a function is a system call of sys_linux_*.s or a counterpart on another
// system. nanotime1 and walltime are excluded because they call the vDSO and rarely enter the kernel.
func isRuntimeSyscall(name string) bool {
	switch name {
	case "futex", "futexwakeup", "madvise", "mmap", "sysMmap", "munmap", "sysMunmap", "mincore", "read", "write",
		"write1", "open", "closefd", "pipe2", "osyield", "osyield_no_g", "tgkill", "raise", "raiseproc", "getpid",
		"gettid", "clone", "exit", "exitThread", "sigaltstack", "rtsigprocmask", "rt_sigaction", "setitimer",
		"timer_create", "timer_settime", "timer_delete", "sched_getaffinity", "access", "connect", "socket", "sbrk0",
		"epollctl", "epollcreate1", "fcntl", "syscall", "syscall6", "libcCall", "asmstdcall", "stdcall", "prctl",
		"vgetrandom1":
		return true
	}
	return false
}

// isKernelOfAssembly reports whether a function is an assembly loop that is often the leaf. These are in
// runtime (memmove_*.s, memclr_*.s, asm_*.s, duff_*.s) and in internal/bytealg, whose inner functions have no
// package in their names.
func isKernelOfAssembly(name string) bool {
	switch strings.TrimPrefix(name, "runtime.") {
	case "memmove", "memclrNoHeapPointers", "memequal", "memequal_varlen", "memhash", "memhash32", "memhash64",
		"strhash", "aeshashbody", "duffcopy", "duffzero", "cmpbody", "cmpstring", "countbody", "indexbody",
		"indexbytebody", "memeqbody", "procyieldAsm", "publicationBarrier":
		return true
	}
	return hasAnyPrefix(name, "internal/bytealg.Index", "internal/bytealg.Count", "internal/bytealg.Compare",
		"internal/bytealg.Equal") && !strings.Contains(name, "Rabin")
}

// isBareAssembly reports whether a function of asm_*.s or internal/bytealg has a linker name without a
// package.
func isBareAssembly(name string) bool {
	switch strings.TrimSuffix(name, ".abi0") {
	case "aeshashbody", "memeqbody", "cmpbody", "countbody", "indexbody", "indexbytebody", "gogo", "callRet",
		"setg_gcc", "gosave_systemstack_switch":
		return true
	}
	return strings.HasPrefix(name, "gcWriteBarrier")
}

var (
	// closureRx matches the suffixes of names that the Go compiler generates.
	closureRx = NewPattern(`(\.func\d+|\.gowrap\d+|\.deferwrap\d+|-fm|-range\d+)(\.\d+)*$`)
	// javaRx matches package.package.Class.method, as in JFR and in perf maps with dots.
	javaRx = NewPattern(`^(?:[a-z][\w$]*\.){2,}[A-Z][\w$]*(?:\.[\w$<>]+|$)`)
	// cloneRx matches the suffixes that GCC and Clang give to copies of functions.
	cloneRx = NewPattern(
		`\.(part|isra|constprop|cold|lto_priv|llvm|localalias|clone|__uniq|omp_fn|_omp_fn|avx\w*|sse\w*|resolver|default|arch_\w+)(\.|$)`,
	)
	goRx = NewPattern(`^[a-zA-Z_][\w~%.-]*\.[\pL_(]`)
)

// isGoName reports whether a name of a function without a file has the form of the Go linker's names.
func isGoName(name string) bool {
	switch {
	case strings.Contains(name, "::") || strings.HasPrefix(name, "_Z") || strings.ContainsAny(name, " ;"):
		return false
	case hasAnyPrefix(name, "runtime.", "main.", "type:.", "type..", "go:", "go.") || strings.Contains(name, ".(*") ||
		strings.Contains(name, "[...]"):
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

// isJavaName reports whether a name is Java's: with dots, or in the form of perf-map-agent and
// async-profiler, Lorg/pkg/Class;::method.
func isJavaName(name string) bool {
	if strings.HasPrefix(name, "L") && strings.Contains(name, ";::") {
		return true
	}
	return javaRx().MatchString(name) && !closureRx().MatchString(name)
}
