package model

import (
	"slices"
	"time"
)

// Profiles holds the results of profiling a cluster's processes. The reader of the profiles computes them,
// which keeps this package independent of profile formats. Unknown numbers are NaN. Other unknown facts are
// nil, with a reason.
type Profiles struct {
	// Location is the folder or bundle with the profiles, "" if they were just taken.
	Location string
	// From and To are the times at which the profiles were taken, zero if unknown.
	From, To time.Time
	// Processes are the processes that were or should have been profiled, by name.
	Processes []*ProfiledProcess
	// Problems are files that could not be read, with the reason.
	Problems []string
}

// ProfiledProcess is one profiled process.
type ProfiledProcess struct {
	// Name is its session, e.g. "querynode-3", or else its name at the time of profiling.
	Name  string
	Roles []string
	// Nodes are the ids of its sessions; nil: unknown.
	Nodes []NodeID
	// Group is the resource group within which it was compared, "" if unknown.
	Group string
	// CPU, Mutex and Goroutines are nil if not taken or if that failed. The reasons describe failures. They are
	// "" if the profile was not requested.
	CPU        *CPUProfile
	Mutex      *MutexProfile
	Goroutines *GoroutineDumps

	CPUReason, MutexReason, GoroutineReason string
}

// Ref returns the process as an object that findings refer to.
func (x *ProfiledProcess) Ref() Ref { return Ref{Resource: "nodes", ID: x.Name, Name: x.Name} }

// Has reports whether a process has a role.
func (x *ProfiledProcess) Has(role string) bool { return slices.Contains(x.Roles, role) }

// ProfileLoad compares the load of a process with the others of its role and resource group.
type ProfileLoad uint8

// The loads. All except LoadUnknown and LoadEven are statistically significant.
const (
	// LoadUnknown means that there is no other process, or that the sampling time is unknown.
	LoadUnknown ProfileLoad = iota
	LoadEven
	// LoadLow is less than a third of the others' mean, LoadIdle less than a tenth, LoadHigh more than three
	// times as much.
	LoadLow
	LoadIdle
	LoadHigh
)

// ProfileShare is a fraction of a profile's samples, 0 to 1, with 95% confidence bounds. Part, Low and High are
// NaN if unknown.
type ProfileShare struct {
	Samples         int64
	Part, Low, High float64
}

// CPUProfile is the CPU profile of a process over a sampling period.
type CPUProfile struct {
	Period  time.Duration
	Samples int64
	// Cores is CPU time divided by elapsed time; NaN if unknown.
	Cores float64
	Load  ProfileLoad
	// Others is the mean number of cores of the processes compared with. Peers is the number of these processes.
	Others float64
	Peers  int
	// GC is all work of Go's garbage collector. LockWait is the slow paths of locks.
	GC, LockWait ProfileShare
	// BruteForce is search by comparison with every row. It is nil if unknown, and BruteReason has the reason.
	BruteForce  *ProfileShare
	BruteReason string
	// OpenMP is search that libknowhere runs through OpenMP: brute force and IVF, but not graphs. Knowhere is
	// all search in libknowhere.
	OpenMP, Knowhere ProfileShare
	// Hottest are the functions with the highest self time, in descending order.
	Hottest []HotFrame
}

// HotFrame is a function with its fraction of a process's CPU time, 0 to 1. For native code without symbols it
// is the library.
type HotFrame struct {
	Function string
	Part     float64
}

// MutexProfile holds the time that goroutines waited for mutexes during the sampling period.
type MutexProfile struct {
	Period time.Duration
	// Enabled is false if the process does not record contention, which is Go's default. The wait time is then
	// unknown.
	Enabled bool
	// Waiting is the total wait time divided by the length of the period, i.e. the mean number of waiting
	// goroutines.
	Waiting float64
	// Where are the functions that held the locks, in descending order of the wait time that they caused.
	Where []WaitPlace
}

// WaitPlace is a function with its fraction of the wait time, 0 to 1.
type WaitPlace struct {
	Function string
	Part     float64
}

// GoroutineDumps holds the number of goroutines of one process at several times.
type GoroutineDumps struct {
	// Dumps is the number of dumps. With one, growth is unknown.
	Dumps         int
	From, To      time.Time
	Before, After int64
	// Grown are the stacks whose number of goroutines grew significantly and at least doubled.
	Grown []GrownStack
}

// GrownStack is a stack with a growing number of goroutines.
type GrownStack struct {
	// Function is the program's own function on the stack, Entry the function that started the goroutine,
	// Frames the stack, innermost first.
	Function, Entry string
	Frames          []string
	Before, After   int64
	// Steady is true if there are more than two dumps and the number grew from each to the next.
	Steady bool
	// P is the p-value of the growth, corrected for the number of stacks.
	P float64
}

// WithProfiles returns a copy of the cluster with the profiles of its processes.
func (c *Cluster) WithProfiles(p *Profiles) *Cluster {
	next := *c
	next.Profiles = p
	return &next
}
