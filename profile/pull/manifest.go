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

// Identification of manifests.
const (
	// Format is the "format" of every manifest.
	Format = "kitescope-profiles"
	// Version is the written version, and the newest version that can be read. Fields may be added without a new
	// version.
	Version = 1
	// ManifestName is the name of the manifest file in a folder.
	ManifestName = "manifest.json"

	// maxManifest is the maximum size of a manifest in bytes.
	maxManifest = 64 << 20
)

// Manifest describes a folder of profiles that were taken together.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Kitescope is the version of the program that wrote the manifest. Command is its command line, without
	// secrets.
	Kitescope string `json:"kitescope,omitempty"`
	Command   string `json:"command,omitempty"`
	// Root is the root path of the cluster, or "" if the processes were named one by one.
	Root string `json:"root,omitempty"`
	// Started and Ended are times of the local clock.
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Seconds is the requested window.
	Seconds int `json:"seconds"`
	// Sequence is the number of the round in a rolling record, from 1; 0 for a single round.
	Sequence int64 `json:"sequence,omitempty"`
	// Profiles are all requested profiles, including failed ones.
	Profiles []Entry `json:"profiles"`
}

// Entry is one requested profile.
type Entry struct {
	// Node is the process, unique within the manifest.
	Node    string   `json:"node"`
	Roles   []string `json:"roles,omitempty"`
	NodeIDs []string `json:"node_ids,omitempty"`
	// Address is host and port, and URL the requested URL, both without credentials; "" if nothing was requested.
	Address       string `json:"address,omitempty"`
	URL           string `json:"url,omitempty"`
	MilvusVersion string `json:"milvus_version,omitempty"`
	// BuildID is the build ID of the program, from the profile.
	BuildID string `json:"build_id,omitempty"`
	Kind    Kind   `json:"kind"`
	// From is the time of the request and To the time of the complete response, by the local clock. Seconds is
	// the requested window; 0 for instantaneous profiles.
	From    time.Time `json:"from,omitzero"`
	To      time.Time `json:"to,omitzero"`
	Seconds int       `json:"seconds,omitempty"`
	// File is relative to the manifest; "" without a profile. Bytes and SHA256 are its size and checksum.
	File   string `json:"file,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// ProfileTime and ProfileSeconds are the start and the duration recorded in the profile.
	ProfileTime    time.Time `json:"profile_time,omitzero"`
	ProfileSeconds float64   `json:"profile_seconds,omitempty"`
	// Samples is the number of sampled events, Stacks the number of distinct stacks, and Total the sum of
	// values of the type that is shown by default. nil is unknown.
	Samples *int64 `json:"samples,omitempty"`
	Stacks  int    `json:"stacks,omitempty"`
	Type    string `json:"type,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Total   *int64 `json:"total,omitempty"`
	// Outcome is the result, Error the reason for a failure, Hint an advice, and Attempts the number of requests.
	Outcome  Outcome  `json:"outcome"`
	Error    string   `json:"error,omitempty"`
	Hint     string   `json:"hint,omitempty"`
	Attempts int      `json:"attempts,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// Failed returns the number of missing profiles.
func (m *Manifest) Failed() int {
	n := 0
	for i := range m.Profiles {
		if m.Profiles[i].Outcome != OK {
			n++
		}
	}
	return n
}

// write writes the manifest to a folder.
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

// ParseManifest parses a manifest. location is used in errors.
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

// isFile reports whether name is valid for a profile in a manifest: a file in the folder of the manifest, and not the
// manifest.
func isFile(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`) && name != ManifestName && name != "."
}
