package profile

import "strings"

// libcCall returns Idle for C library functions that wait, Syscall for thin wrappers of a system call, and
// Unknown for all others. glibc has the wrappers in sysdeps/unix/sysv/linux and
// sysdeps/unix/syscall-template.S. It names them __GI_NAME, __libc_NAME and NAME_nocancel.
func libcCall(name, file string) Class {
	short := strings.TrimLeft(name, "_")
	short = strings.TrimLeft(strings.TrimPrefix(short, "GI_"), "_")
	short = strings.TrimPrefix(short, "libc_")
	short = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(short, "_nocancel"), "64"), "_time")
	switch {
	case waits(short):
		return Idle
	case strings.HasSuffix(file, "sysdeps/unix/syscall-template.S"):
		return Syscall
	case strings.Contains(file, "sysdeps/unix/sysv/linux/"):
		// These two files do more than a system call: one reads /proc, the other calls the vDSO.
		if strings.HasSuffix(file, "getsysstats.c") || strings.HasSuffix(file, "clock_gettime.c") {
			return Unknown
		}
		return Syscall
	case file == "" && callsKernel(short):
		return Syscall
	}
	return Unknown
}

func waits(short string) bool {
	switch short {
	case "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect", "nanosleep",
		"clock_nanosleep", "usleep", "sleep", "pause", "sigwait", "sigwaitinfo", "sigtimedwait", "sigsuspend", "wait4",
		"waitpid", "waitid", "sem_wait", "sem_timedwait", "pthread_cond_wait", "pthread_cond_timedwait",
		"pthread_cond_wait_common", "pthread_cond_clockwait", "pthread_join", "pthread_clockjoin_ex", "futex_wait",
		"futex_wait_cancelable", "futex_abstimed_wait_common", "futex_abstimed_wait", "futex_abstimed_wait_cancelable",
		"psynch_cvwait", "semwait_signal", "kevent", "ulock_wait":
		return true
	}
	return false
}

func callsKernel(short string) bool {
	switch short {
	case "syscall", "read", "write", "pread", "pwrite", "readv", "writev", "preadv", "pwritev", "open", "openat",
		"close", "fsync", "fdatasync", "lseek", "mmap", "munmap", "mprotect", "madvise", "mremap", "brk", "sbrk",
		"stat", "fstat", "lstat", "fstatat", "newfstatat", "access", "recv", "recvfrom", "recvmsg", "recvmmsg", "send",
		"sendto", "sendmsg", "sendmmsg", "accept", "accept4", "connect", "socket", "bind", "ioctl", "fcntl",
		"ftruncate", "fallocate", "unlink", "rename", "getdents", "sched_yield", "futex_wake", "lll_lock_wake",
		"getpid", "gettid", "getrusage", "io_submit", "io_getevents", "clone", "clone3", "fork", "vfork", "execve",
		"sendfile", "splice", "epoll_ctl", "eventfd_write", "eventfd_read", "kill", "tgkill", "sigaction",
		"sigprocmask", "msync", "fadvise", "posix_fadvise", "sync_file_range":
		return true
	}
	return false
}

// kernelIdle reports whether a kernel function runs when a processor has nothing to do. The names come from
// kernel/sched/idle.c and the idle routines of drivers/cpuidle, drivers/idle and arch/x86.
func kernelIdle(name string) bool {
	switch name {
	case "do_idle", "cpu_idle", "cpu_idle_loop", "cpu_startup_entry", "default_idle", "default_idle_call",
		"native_safe_halt", "pv_native_safe_halt", "intel_idle", "intel_idle_irq", "intel_idle_ibrs", "poll_idle",
		"mwait_idle", "acpi_idle_enter", "acpi_idle_do_entry", "acpi_safe_halt", "arch_cpu_idle", "cpuidle_enter",
		"cpuidle_enter_state", "cpuidle_idle_call", "call_cpuidle", "haltpoll_enter_idle":
		return true
	}
	return strings.HasPrefix(name, "cpuidle_")
}
