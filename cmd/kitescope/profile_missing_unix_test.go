//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/profile/pull"
)

// TestProfileLinks checks that symbolic links are not followed into a bundle.
func TestProfileLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	kitescope(t, cli.ExitOK, "profile", "pull", "--seconds", "1", "-O", dir, "here="+profiledService(t, nil).URL)
	record, err := pull.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, record.Items[0].Name)
	if err := os.Rename(file, dir+".private"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+".private", file); err != nil {
		t.Fatal(err)
	}
	_, err = session.FolderProfiles(dir)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}

// TestProfilesOfPipe checks that a profile can be read from a pipe, which can be read only once.
func TestProfilesOfPipe(t *testing.T) {
	content, err := os.ReadFile("../../testdata/profiles/milvus-cpu-idle.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = w.Write(content)
		_ = w.Close()
	}()
	path := fmt.Sprint("/dev/fd/", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	containsAll(t, kitescope(t, cli.ExitOK, "profile", "top", path).stdout, "36 samples")
}
