package trial

import "syscall"

// adopt makes us the parent of what a program leaves behind (man 2 prctl, PR_SET_CHILD_SUBREAPER), so that the time that it
// used is told to us too. It is a property of the whole process, and does no harm there.
func adopt() {
	const setChildSubreaper = 36                                             // linux/prctl.h
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0) // kernels before 3.4 do without
}

// endWithUs lets a program die with us, however we do (man 2 prctl, PR_SET_PDEATHSIG): a load that is left alone would
// disturb the runs of the session that goes on with the trial.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
