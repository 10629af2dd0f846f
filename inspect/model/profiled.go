package model

import (
	"slices"
	"time"
)

// Profiles are what the profiles of a cluster's processes say: worked out of them by whoever read
// them, so that nothing here knows how a profile looks. A number that is unknown is NaN, and a
// fact that is, nil with a reason.
type Profiles struct {
	// Location is the folder or bundle they come from, "" if they were pulled just now.
	Location string
	// From and To are when they were taken, zero if unknown.
	From, To time.Time
	// Processes are those that were profiled, or should have been, by name.
	Processes []*ProfiledProcess
	// Problems are files that could not be read, and why.
	Problems []string
}

// ProfiledProcess is one process.
type ProfiledProcess struct {
	// Name is its session, "querynode-3"; else what it was called when it was profiled.
	Name  string
	Roles []string
	// Nodes are the ids of its sessions; nil: unknown.
	Nodes []NodeID
	// Group is the resource group that it was compared within, "" if unknown.
	Group string
	// CPU, Mutex and Goroutines are nil if they were not taken, or went wrong: then the reason says how, and is "" where nobody asked.
	CPU        *CPUProfile
	Mutex      *MutexProfile
	Goroutines *GoroutineDumps

	CPUReason, MutexReason, GoroutineReason string
}

// Ref is the process as an object that findings are about.
func (x *ProfiledProcess) Ref() Ref { return Ref{Resource: "nodes", ID: x.Name, Name: x.Name} }

// Has reports whether a process has a role.
func (x *ProfiledProcess) Has(role string) bool { return slices.Contains(x.Roles, role) }

// ProfileLoad is how busy a process is beside the others of its role and resource group.
type ProfileLoad uint8

// The loads. All but the first two are significant.
const (
	// LoadUnknown: it is alone, or nothing tells how long was sampled.
	LoadUnknown ProfileLoad = iota
	LoadEven
	// LoadLow is less than a third of the others' mean, LoadIdle less than a tenth, LoadHigh more than three times.
	LoadLow
	LoadIdle
	LoadHigh
)

// ProfileShare is a part of a profile's samples, 0 to 1, with bounds that hold with a confidence of 95%. Part, Low and High are NaN if unknown.
type ProfileShare struct {
	Samples         int64
	Part, Low, High float64
}

// CPUProfile is what a process spent its processor time on while it was sampled.
type CPUProfile struct {
	Over    time.Duration
	Samples int64
	// Cores is processor time per time; NaN if unknown.
	Cores float64
	Load  ProfileLoad
	// Others are the mean cores of those it was compared with, and Peers how many those are.
	Others float64
	Peers  int
	// GC is all work of Go's garbage collector, LockWait the slow paths of locks.
	GC, LockWait ProfileShare
	// BruteForce is search by comparing with every row; nil if that cannot be told, and BruteReason says why.
	BruteForce  *ProfileShare
	BruteReason string
	// OpenMP is search that libknowhere runs through OpenMP: brute force and IVF, not graphs. Knowhere is all search there.
	OpenMP, Knowhere ProfileShare
	// Hottest are the functions that most of the time was spent in itself, the first first.
	Hottest []HotFrame
}

// HotFrame is a function and its part of a process's processor time, 0 to 1. Of native code without symbols it is the library.
type HotFrame struct {
	Function string
	Part     float64
}

// MutexProfile is how much goroutines waited for mutexes during the window.
type MutexProfile struct {
	Over time.Duration
	// On is false where the process does not record contention, which is Go's default: then nothing is known.
	On bool
	// Waiting is time spent waiting over the length of the window: how many goroutines waited at a time, on average.
	Waiting float64
	// Where are the functions that held them up, those that count most first, with their part of it.
	Where []WaitPlace
}

// WaitPlace is a function and its part of all waiting, 0 to 1.
type WaitPlace struct {
	Function string
	Part     float64
}

// GoroutineDumps are counts of the goroutines of one process at several moments.
type GoroutineDumps struct {
	// Dumps is how many there are. With one, nothing is known of growth.
	Dumps         int
	From, To      time.Time
	Before, After int64
	// Grown are the stacks that many more goroutines have at the end than at the beginning: significantly, and at least twice as many.
	Grown []GrownStack
}

// GrownStack is a stack that more and more goroutines have.
type GrownStack struct {
	// Function is the program's own function that they are in, Entry the one they were started with, Frames the stack, innermost first.
	Function, Entry string
	Frames          []string
	Before, After   int64
	// Steady: with more than two dumps, it grew from each to the next.
	Steady bool
	// P is the chance of such growth where nothing grows, corrected for the number of stacks.
	P float64
}

// WithProfiles is the same cluster with the profiles of its processes.
func (c *Cluster) WithProfiles(p *Profiles) *Cluster {
	next := *c
	next.Profiles = p
	return &next
}
