package model

// Storage is what a look into the storage says: whether the files are there that the metadata names. Whoever looked worked it
// out, so that nothing here knows how storage is reached. nil: nobody looked.
type Storage struct {
	// Location is the folder, archive or bucket.
	Location string
	// Problem is why nothing is known of any file, "" if some were found.
	Problem string
	// Segments is how many have files by the metadata, Looked of how many these were looked for: those first on which something waits.
	Segments, Looked int
	// Limit is why others were not looked at, "" if all were.
	Limit string
	// Unseen are places that could not be listed, and why.
	Unseen []Skipped
	// Missing are files that are not there, or empty, in the order of their segments.
	Missing []MissingFiles
}

// MissingFiles are files of one kind of a segment: the logs of a field, or an index.
type MissingFiles struct {
	Segment    SegmentID
	Collection CollectionID
	// Kind is "insert log", "delta log" or "index".
	Kind string
	// Field is the field that insert logs are of, or that the index is on; 0 unknown.
	Field FieldID
	// Index and Build are those of an index, else 0.
	Index IndexID
	Build BuildID
	// Path is the folder that they should be in, as names in the storage go.
	Path string
	// Found of Want files are there and not empty.
	Found, Want int
}

// WithStorage is the same cluster with what a look into its storage says.
func (c *Cluster) WithStorage(s *Storage) *Cluster {
	next := *c
	next.Storage = s
	return &next
}
