package pull

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What a manifest calls itself.
const (
	// Format is the "format" of every manifest.
	Format = "kitescope-profiles"
	// Version is the version that is written, and the newest that is read. Fields may be added without a new one.
	Version = 1
	// ManifestName is its file in a folder.
	ManifestName = "manifest.json"

	// maxManifest bounds it.
	maxManifest = 64 << 20
)

// Manifest says what is in a folder of profiles that were taken together.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Kitescope is the version of the program that wrote it, Command its command line, without secrets.
	Kitescope string `json:"kitescope,omitempty"`
	Command   string `json:"command,omitempty"`
	// Root is that of the cluster, "" where the processes were named one by one.
	Root string `json:"root,omitempty"`
	// Started and Ended are by the clock of the machine that pulled.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Seconds is the window that was asked for.
	Seconds int `json:"seconds"`
	// Sequence counts the rounds of a rolling record, from 1; 0 where there is one only.
	Sequence int64 `json:"sequence,omitempty"`
	// Profiles are all that were asked for, those that failed included.
	Profiles []Entry `json:"profiles"`
}

// Entry is one profile that was asked for.
type Entry struct {
	// Node is the process, unique within the manifest.
	Node    string   `json:"node"`
	Roles   []string `json:"roles,omitempty"`
	NodeIDs []string `json:"node_ids,omitempty"`
	// Address is host and port, URL what was asked for, both without credentials; "" if nothing was.
	Address       string `json:"address,omitempty"`
	URL           string `json:"url,omitempty"`
	MilvusVersion string `json:"milvus_version,omitempty"`
	// BuildID is that of the program, from the profile.
	BuildID string `json:"build_id,omitempty"`
	Kind    Kind   `json:"kind"`
	// From is when the process was asked and To when the answer was complete, by the clock of the
	// machine that pulled; Seconds is the window that was asked for, 0 for what is taken at once.
	From    time.Time `json:"from,omitzero"`
	To      time.Time `json:"to,omitzero"`
	Seconds int       `json:"seconds,omitempty"`
	// File is relative to the manifest; "" if there is no profile. Bytes and SHA256 are of it.
	File   string `json:"file,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// ProfileTime and ProfileSeconds are what the profile itself says of when it was taken.
	ProfileTime    time.Time `json:"profile_time,omitzero"`
	ProfileSeconds float64   `json:"profile_seconds,omitempty"`
	// Samples is how many events were sampled, Stacks how many different stacks they are of, Total what they
	// add up to in the type that the profile shows by default. nil is unknown.
	Samples *int64 `json:"samples,omitempty"`
	Stacks  int    `json:"stacks,omitempty"`
	Type    string `json:"type,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Total   *int64 `json:"total,omitempty"`
	// Outcome is how it ended, Error why, Hint what to try, Attempts how often the process was asked.
	Outcome  Outcome  `json:"outcome"`
	Error    string   `json:"error,omitempty"`
	Hint     string   `json:"hint,omitempty"`
	Attempts int      `json:"attempts,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// Failed counts the profiles that are not there.
func (m *Manifest) Failed() int {
	n := 0
	for i := range m.Profiles {
		if m.Profiles[i].Outcome != OK {
			n++
		}
	}
	return n
}

// write puts the manifest into a folder.
func (m *Manifest) write(dir string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ManifestName), text.Bytes(), 0o600)
}

// ParseManifest reads a manifest. location is for errors.
func ParseManifest(location string, text []byte) (*Manifest, error) {
	if len(text) > maxManifest {
		return nil, fmt.Errorf("read %s: %d bytes, not a manifest", location, len(text))
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil || m.Format != Format {
		return nil, fmt.Errorf("read %s: not a manifest of profiles", location)
	}
	if m.Version < 1 || m.Version > Version {
		return nil, fmt.Errorf("read %s: version %d; this kitescope reads up to %d", location, m.Version, Version)
	}
	return m, nil
}

// isFile reports whether a manifest may name a file so: it lies beside the manifest, and nowhere else.
func isFile(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`) && name != ManifestName && name != "."
}
