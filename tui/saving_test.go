package tui

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// disk is a file system in memory.
type disk map[string]string

func (d disk) save(path string, write func(io.Writer) error) (string, error) {
	switch {
	case strings.HasPrefix(path, "nosuch/"):
		return "", errors.New("open nosuch: there is no such folder")
	case d[path] != "":
		return "", fs.ErrExist
	}
	var b strings.Builder
	err := write(&b)
	d[path] = b.String()
	return "/home/me/" + path, err
}

// TestSavePrompts checks that every action that saves first prompts for a path, which can be
// edited, and that esc writes nothing.
func TestSavePrompts(t *testing.T) {
	for _, keys := range []string{"5 s 1", "5 s 2", "5 s 4", "4 d s", "4 t s", "2 s"} {
		synctest.Test(t, func(t *testing.T) {
			files := disk{}
			cfg := testConfig()
			cfg.SaveFile = files.save
			d := driven(t, cfg, 100, 30)
			d.Cluster(tuitest.Fixture())
			d.Cluster(tuitest.FixtureLater())
			d.Keys(keys)
			d.Shows("save to: ", "-20261120-093000.")
			d.Keys("esc")
			d.Shows("nothing was saved")
			if len(files) != 0 {
				t.Errorf("%s: written: %v", keys, files)
			}
			d.Keys(keys + " home").Typed("mine-").Keys("enter")
			d.Shows("saved /home/me/mine-")
			if len(files) != 1 {
				t.Errorf("%s: %d files were written", keys, len(files))
			}
		})
	}
}
