package pgo

import (
	"path"
	"regexp"
	"strings"

	"kitescope/profile"
)

// ceilingOfReach is the maximum gain of PGO as a share of the time in code that PGO can change: the top of the
// "2-14%" of go.dev/doc/pgo. It is not fitted. None of sixteen programs gained more.
const ceilingOfReach = 0.14

// ReachOf returns the distribution of a CPU profile's time, by the leaves of its samples. All shares are 0 if
// there are no samples.
//
//   - A sample in runtime.asyncPreempt counts for the interrupted function.
//   - Processes without a symbolizer report time in C under runtime.cgocall. It counts as native, as with a
//     symbolizer.
//   - Assembly and system calls within the garbage collector count as assembly and system calls, because no
//     compiler changes them.
//   - A system call made by a native library is native, because Go did not compile its caller.
func ReachOf(p *profile.Profile) Reach {
	var r Reach
	kind := kindOf(p)
	if kind < 0 {
		return r
	}
	p = p.FoldPreempt()
	spent, leaf, total := p.SampleKinds(), p.KindsOfLocations(), 0.0
	inLibrary := librariesOf(p)
	for i := range p.Len() {
		v := float64(p.Value(i, kind))
		if v <= 0 {
			continue
		}
		total += v
		class := spent.Kind(i).Class
		if stack := p.Stack(i); len(stack) > 0 {
			if own := leaf[stack[0]].Class; class == profile.GC && notCompiled(own) {
				class = own
			}
			if r.share(class) == &r.Syscall && inLibrary(stack[0]) {
				class = profile.Native
			}
		}
		to := r.share(class)
		*to += v
	}
	if total == 0 {
		return Reach{}
	}
	for _, share := range []*float64{&r.Go, &r.Runtime, &r.GC, &r.Assembly, &r.Syscall, &r.Native, &r.Unknown} {
		*share /= total
	}
	r.Total = r.Go + r.Runtime + r.GC
	r.Ceiling = ceilingOfReach * r.Total
	return r
}

// notCompiled reports whether Go's compiler does not produce code of a class.
func notCompiled(c profile.Class) bool {
	switch c {
	case profile.Assembly, profile.Syscall, profile.Idle, profile.Kernel, profile.Native, profile.Managed, profile.Cgo:
		return true
	case profile.GoCode, profile.Runtime, profile.GC, profile.Unknown:
	}
	return false
}

// share returns the field to which the time of a class is added. A sample in the bridge between Go and C counts
// as native, because most of that time is spent in C. The kernel, and waiting in it, count as system calls.
func (r *Reach) share(c profile.Class) *float64 {
	switch c {
	case profile.GoCode:
		return &r.Go
	case profile.Runtime:
		return &r.Runtime
	case profile.GC:
		return &r.GC
	case profile.Assembly:
		return &r.Assembly
	case profile.Syscall, profile.Kernel, profile.Idle:
		return &r.Syscall
	case profile.Native, profile.Managed, profile.Cgo:
		return &r.Native
	case profile.Unknown:
	}
	return &r.Unknown
}

// sharedLibrary matches the file names of native code loaded at run time, e.g. libc.so.6, libSystem.B.dylib,
// ntdll.dll.
const sharedLibrary = `\.so(\.[0-9.]+)?$|\.dylib$|\.dll$`

// librariesOf returns a function that reports whether a location is in a shared library, and so was not compiled by
// Go.
func librariesOf(p *profile.Profile) func(location uint32) bool {
	name := regexp.MustCompile(sharedLibrary)
	is := make([]bool, len(p.Mappings))
	for i := range is {
		is[i] = name.MatchString(path.Base(strings.ReplaceAll(p.Mappings[i].File, `\`, "/")))
	}
	return func(location uint32) bool {
		m := p.Locations[location].Mapping
		return m >= 0 && int(m) < len(is) && is[m]
	}
}
