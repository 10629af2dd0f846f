package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// journalFile holds a line of JSON for each measured run. A run is a line that is added, so that keeping the last of a
// thousand runs costs no more than keeping the first.
const journalFile = "measured.jsonl"

// readJournal reads what was measured. A last line that is not complete, as after a crash, is a run that was not made.
func (f folder) readJournal() ([]Measured, error) {
	info, err := os.Stat(f.path(journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("continue the trial: %w", err)
	}
	if info.Size() > maxStateSize {
		return nil, fmt.Errorf("continue the trial: %s is larger than any journal", f.path(journalFile))
	}
	text, err := os.ReadFile(f.path(journalFile))
	if err != nil {
		return nil, fmt.Errorf("continue the trial: %w", err)
	}
	var runs []Measured
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var r Measured
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, planError("start over in a new folder, with -O", "continue the trial: line %d of %s cannot be read: %w", len(runs)+1, f.path(journalFile), err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// writeJournal writes all anew.
func (f folder) writeJournal(runs []Measured) error {
	var b bytes.Buffer
	for i := range runs {
		if err := json.NewEncoder(&b).Encode(&runs[i]); err != nil {
			return fmt.Errorf("save the measurements: %w", err)
		}
	}
	if err := f.write(b.Bytes(), journalFile); err != nil {
		return fmt.Errorf("save the measurements: %w", err)
	}
	return nil
}

// journal adds a run.
func (f folder) journal(r *Measured) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("save the measurements: %w", err)
	}
	file, err := os.OpenFile(f.path(journalFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("save the measurements: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("save the measurements: %w", err)
	}
	return nil
}
