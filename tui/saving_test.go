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

// disk is a folder of files, as a person has one.
type disk map[string]string

func (d disk) save(path string, write func(io.Writer) error) (string, error) {
	switch {
	case strings.HasPrefix(path, "nosuch/"):
		return "", errors.New("open nosuch: there is no such folder")
	case d[path] != "":
		return "", fs.ErrExist
	}
	return d.replace(path, write)
}

func (d disk) replace(path string, write func(io.Writer) error) (string, error) {
	var b strings.Builder
	err := write(&b)
	d[path] = b.String()
	return "/home/me/" + path, err
}

// TestNothingIsWrittenWithoutAsking: whatever saves asks where to first, with a path that can be changed; esc writes nothing.
func TestNothingIsWrittenWithoutAsking(t *testing.T) {
	for _, keys := range []string{"5 s 1", "5 s 2", "5 s 4", "4 d s", "4 t s", "g d s", "2 s"} {
		synctest.Test(t, func(t *testing.T) {
			files := disk{}
			cfg := testConfig()
			cfg.SaveFile, cfg.ReplaceFile = files.save, files.replace
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

func TestSavingOverAFileAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := disk{"there.csv": "old"}
		cfg := testConfig()
		cfg.SaveFile, cfg.ReplaceFile = files.save, files.replace
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("5 s 2 ctrl+k").Typed("there.csv").Keys("enter")
		d.Shows("there is a file already", "replace the file")
		d.Keys("esc")
		if files["there.csv"] != "old" {
			t.Error("it was replaced without an answer")
		}
		d.Keys("s 2 ctrl+k").Typed("there.csv").Keys("enter 1")
		d.Shows("save to: there.csv")
		d.Keys("enter 2")
		d.Shows("saved /home/me/there.csv")
		if !strings.HasPrefix(files["there.csv"], "id,") && !strings.HasPrefix(files["there.csv"], "ID,") {
			t.Errorf("the file has %.40q", files["there.csv"])
		}
		d.Keys("s 2 ctrl+k").Typed("nosuch/x.csv").Keys("enter")
		d.Shows("not saved: open nosuch", "save to: nosuch/x.csv") // to be mended
	})
}

func TestFoldersAreCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := disk{}
		cfg := testConfig()
		cfg.SaveFile = files.save
		cfg.Folders = func(typed string) []string {
			if typed != "" && strings.HasPrefix("reports/", typed) { //nolint:gocritic // what is typed is a part of it
				return []string{"reports/"}
			}
			return nil
		}
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("5 s 2 ctrl+k").Typed("rep")
		d.Keys("tab").Typed("x.csv").Keys("enter")
		if len(files["reports/x.csv"]) == 0 {
			t.Errorf("written: %v", files)
		}
	})
}

// TestFiltersAreRemembered: up brings back what was typed before, on any page, and down what is being typed.
func TestFiltersAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 /")
		d.Typed("docs").Keys("enter / ctrl+k").Typed("rows>5k").Keys("enter / ctrl+k").Typed("docs").Keys("enter esc")
		d.Keys("/").Typed("gro").Keys("up")
		d.Shows("/docs")
		d.Keys("up")
		d.Shows("/rows>5k")
		d.Keys("up")
		d.Shows("/rows>5k") // the oldest: docs was typed again
		d.Keys("down down")
		d.Shows("/gro")
		d.Keys("up up enter 4 / up")
		d.Shows("/rows>5k")
	})
}

// TestNoMenuOverWhatIsTyped: a file that is there already by the time that something else is typed is told, and asks nothing.
func TestNoMenuOverWhatIsTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.ReplaceFile = disk{}.replace
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("5 /").Typed("docs")
		d.Send(savedMsg{saving: saving{path: "x.csv"}, err: fs.ErrExist})
		if d.m.Menu != nil || d.m.Prompt == nil {
			t.Error("a menu stands over the line that is typed")
		}
		d.Keys("enter")
		d.Shows("/docs")
	})
}
