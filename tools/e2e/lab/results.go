package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// ReadResults reads the results of a run, one JSON document per line.
func ReadResults[T any](file string) ([]*T, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []*T
	for decoder := json.NewDecoder(f); decoder.More(); {
		r := new(T)
		if err := decoder.Decode(r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// SaveResults writes the results of a run. It removes the paths in hide, i.e. those of the lab and the
// program.
func SaveResults[T any](file string, all []*T, hide ...string) error {
	var b strings.Builder
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text := string(line)
		for _, place := range hide {
			text = strings.ReplaceAll(text, place+"/", "")
		}
		b.WriteString(text + "\n")
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
