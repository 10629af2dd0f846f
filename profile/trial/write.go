package trial

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kitescope/profile/bench"
	"kitescope/profile/pgo"
)

// checkWrite finds out before anything is built whether default.pgo may be written in the end.
func (t *trial) checkWrite() error {
	if !t.plan.Write || t.plan.Force {
		return nil
	}
	file := filepath.Join(t.report.Module.Main, pgo.DefaultName)
	old, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", file, err)
	}
	if packed, err := os.ReadFile(t.folder.path(pgo.DefaultName)); err == nil && bytes.Equal(packed, old) || ours(file, old) {
		return nil
	}
	return planError("--force replaces it; without --write the trial leaves it alone", "--write: %s is there already, and kitescope did not write it", file)
}

// ours reports whether a default.pgo is as kitescope wrote it: what lies beside it says so.
func ours(file string, text []byte) bool {
	f, err := os.Open(pgo.ManifestName(file))
	if err != nil {
		return false
	}
	defer f.Close()
	m, err := pgo.ReadManifest(f)
	sum := sha256.Sum256(text)
	return err == nil && m.SHA256 == hex.EncodeToString(sum[:])
}

// writePack puts the profile where go build finds it, and says where, or why it did not: the report is not lost for that.
func (t *trial) writePack(r *Report) (file, not string) {
	if r.Verdict() == bench.Worse && !t.plan.Force {
		return "", "the program got worse with it; --force writes it all the same"
	}
	if err := t.checkWrite(); err != nil {
		return "", err.Error()
	}
	dir := t.report.Module.Main
	for _, name := range []string{pgo.DefaultName, pgo.ManifestName(pgo.DefaultName)} {
		text, err := os.ReadFile(t.folder.path(name))
		if err == nil {
			err = writeFile(filepath.Join(dir, name), text)
		}
		if err != nil {
			return "", fmt.Sprintf("write %s: %v", filepath.Join(dir, name), err)
		}
	}
	return filepath.Join(dir, pgo.DefaultName), ""
}
