package profile

// Granularity is the granularity that samples are aggregated by.
type Granularity uint8

// Granularities. ByNode groups whole samples, all others group frames.
const (
	ByFunction Granularity = iota // names as printed by `go tool pprof` by default
	ByFile                        // pprof's -files: one entry per file and start line of a function
	ByLine                        // pprof's -lines
	ByAddress                     // pprof's -addresses
	ByPackage                     // Go package, C++ namespace, Java package; otherwise the library, e.g. "[libc.so.6]"
	ByMapping                     // binary or library
	ByClass                       // Class, with the library of native code, e.g. "native libknowhere.so"
	ByNode                        // NodeLabel
)

var byNames = [...]string{"function", "file", "line", "address", "package", "mapping", "class", "node"}

func (b Granularity) String() string { return byNames[b] }

// ParseGranularity returns the granularity with the given name. ok is false if the name is not in GranularityNames.
func ParseGranularity(word string) (Granularity, bool) {
	for i, name := range byNames {
		if name == word {
			return Granularity(i), true
		}
	}
	return 0, false
}

// GranularityNames returns the words that ParseGranularity accepts.
func GranularityNames() []string { return byNames[:] }

// Frames holds the frames of all locations of a Profile at one granularity.
type Frames struct {
	// Names holds the displayed names. A frame's id is its index. As in pprof, two ids may have the same
	// name: frames without a function name may be in files of the same base name, or begin on different
	// lines.
	Names []string
	// Classes and Files are indexed by id. Files has "" if the file is unknown or not unique.
	Classes []Class
	Files   []string

	starts []uint32
	ids    []uint32
}

// IDs returns the frame ids of a location, innermost first. There are several if functions were inlined.
func (f *Frames) IDs(location uint32) []uint32 {
	return f.ids[f.starts[location]:f.starts[location+1]]
}
