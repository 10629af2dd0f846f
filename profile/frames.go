package profile

// By is what samples are added up by.
type By uint8

// Granularities. ByNode names each sample as a whole, the others each frame.
const (
	ByFunction By = iota // names as `go tool pprof` prints them by default
	ByFile               // pprof's -files: a file once for each line that functions begin on
	ByLine               // pprof's -lines
	ByAddress            // pprof's -addresses
	ByPackage            // Go package, C++ namespace, Java package; of others "[libc.so.6]", the library
	ByMapping            // binary or library
	ByClass              // Class and, of native code, the library: "native libknowhere.so"
	ByNode               // NodeLabel
)

var byNames = [...]string{"function", "file", "line", "address", "package", "mapping", "class", "node"}

func (b By) String() string { return byNames[b] }

// ByOf is the By of a word of its String; ok is false for others.
func ByOf(word string) (By, bool) {
	for i, name := range byNames {
		if name == word {
			return By(i), true
		}
	}
	return 0, false
}

// ByNames lists the words that ByOf knows.
func ByNames() []string { return byNames[:] }

// Frames are the frames of all locations of a Profile at one granularity.
type Frames struct {
	// Names are what is shown; an id is an index of it. As in pprof, two ids may look the same
	// where frames without a name lie in files of the same base name or begin on different lines.
	Names []string
	// Classes and Files are of the same ids. Files has "" where it is unknown or differs.
	Classes []Class
	Files   []string

	starts []uint32
	ids    []uint32
}

// Of are the frames of a location, innermost first: more than one where functions were inlined.
func (f *Frames) Of(location uint32) []uint32 {
	return f.ids[f.starts[location]:f.starts[location+1]]
}
