package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestThirdParty holds third_party to the real modules.
func TestThirdParty(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(got) != text {
			t.Errorf("%s is not what the real modules come to (%v): make milvuspb", name, err)
		}
	}
	for _, folder := range modules {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			if err == nil && filepath.Ext(path) == ".go" && want[filepath.ToSlash(name)] == "" {
				t.Errorf("%s: no message of it is named any more", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
