package read

import (
	"bytes"
	"strings"

	"kitescope/profile"
)

// perfMaps knows which file lay where, as far as perf told, so that an address of a frame without a
// symbol becomes an offset into its file: that is the same in each process, and what
// package symbol looks names up by.
type perfMaps struct {
	b        *profile.Builder
	buildIDs map[string]string
	maps     map[int64][]perfMap
	// offsets and absolute count frames of call chains that can only be the one or the other.
	offsets, absolute int
	last              map[int32]uint64  // the largest offset in each mapping, by index
	first             map[string]uint64 // the smallest offset of code that was mapped of each file
	total             int
}

// maxMaps bounds how many mappings of processes are kept, and maxOwn those of one, through which addresses are looked up.
const (
	maxMaps = 1 << 18
	maxOwn  = 1 << 12
)

func newPerfMaps(b *profile.Builder) perfMaps {
	return perfMaps{b: b, buildIDs: map[string]string{}, maps: map[int64][]perfMap{}, last: map[int32]uint64{}, first: map[string]uint64{}}
}

func (m *perfMaps) add(pid int64, x perfMap) {
	if x.buildID != "" {
		m.buildIDs[x.file] = x.buildID
	}
	if !x.code { // perf record -p tells all mappings of a process that runs already
		return
	}
	if own := m.maps[pid]; len(own) >= maxOwn { // what replaces earlier ones comes later
		n := copy(own, own[len(own)/2:])
		m.maps[pid] = own[:n]
		m.total -= len(own) - n
	}
	if m.total < maxMaps {
		if first, ok := m.first[x.file]; !ok || x.offset < first {
			m.first[x.file] = x.offset
		}
		m.total++
		m.maps[pid] = append(m.maps[pid], x)
	}
}

// highest is an address that no offset into a file reaches, and that libraries and programs which
// are position-independent lie above.
const highest = 1 << 40

// isKernel reports whether a frame is of the kernel or one of its modules, which perf prints in
// brackets, or by the path of a vmlinux and with addresses of the upper half.
func isKernel(f *perfFrame) bool {
	return f.ip >= 1<<63 || len(f.dso) > 0 && f.dso[0] == '[' && !bytes.Equal(f.dso, []byte("[vdso]")) && !bytes.Equal(f.dso, []byte("[vsyscall]"))
}

// place finds the mapping of a frame. fixed says that it is the same for this line in every process.
func (m *perfMaps) place(f *frame, pid int64, single bool) (fixed bool) {
	if len(f.dso) == 0 {
		return true
	}
	file := string(f.dso)
	user := file[0] != '[' && !f.kernel
	if f.name != "" {
		m.evidence(f, user, single)
		f.mapping = m.mapping(file, true)
		return true
	}
	if f.kernel {
		f.mapping = m.mapping(file, false)
		return true
	}
	m.evidence(f, user, single)
	address := !f.relative && (single || f.ip >= highest || m.absolute > m.offsets)
	if address {
		in := m.find(pid, file, f.ip)
		if in == nil && (single || f.ip >= highest) {
			f.mapping = m.mapping(file, false)
			return m.total == 0
		}
		if in != nil {
			f.ip = f.ip - in.start + in.offset
		}
	}
	f.mapping = m.mapping(file, true)
	m.last[f.mapping] = max(m.last[f.mapping], f.ip)
	return !address
}

// evidence counts what an address of a call chain can only be.
func (m *perfMaps) evidence(f *frame, user, single bool) {
	switch {
	case single || !user || f.relative:
	case f.ip >= highest:
		m.absolute++
	default:
		m.offsets++
	}
}

func (m *perfMaps) find(pid int64, file string, ip uint64) *perfMap {
	for _, id := range []int64{pid, -1} {
		list := m.maps[id]
		for i := len(list) - 1; i >= 0; i-- { // later ones replace earlier ones
			if x := &list[i]; ip >= x.start && ip < x.limit && strings.TrimSuffix(x.file, " (deleted)") == file {
				return x
			}
		}
	}
	return nil
}

// known marks mappings, while they are built, in which addresses are offsets into the file.
const known = 1

func (m *perfMaps) mapping(file string, offsets bool) int32 {
	x := profile.Mapping{File: file, BuildID: m.buildIDs[file]}
	if offsets {
		x.Limit = known
	}
	return m.b.Mapping(x)
}

// finish gives mappings their limits. One without a limit is of addresses whose place in the file
// is not known.
func (m *perfMaps) finish() {
	p := m.b.Meta()
	named := make([]bool, len(p.Mappings))
	for _, l := range p.Locations {
		if l.Mapping != profile.NoMapping && l.Lines > 0 {
			named[l.Mapping] = true
		}
	}
	for i := range p.Mappings {
		x := &p.Mappings[i]
		if last, ok := m.last[int32(i)]; ok && x.Limit == known && (m.absolute == 0 || m.total > 0) {
			// Addresses are offsets, so the mapping is one that lies where it lies in the file.
			x.Start = m.first[x.File]
			x.Offset, x.Limit = x.Start, (last|0xfff)+1
		} else {
			x.Limit = 0
		}
		x.HasFunctions = named[i]
	}
}
