package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/model"
)

// TestCoordinatorKeys checks that kitescope requests from a MixCoord, by name, every key of DataCoord and
// QueryCoord that this code uses. It must request no key of another section, because MixCoord reports those
// anyway.
func TestCoordinatorKeys(t *testing.T) {
	t.Parallel()
	asked := model.CoordinatorKeys()
	named := regexp.MustCompile(`"((?:dataCoord|queryCoord)\.[A-Za-z.]*[A-Za-z])"`)
	found := map[string]string{}
	for _, folder := range []string{
		"..", "../../balance", "../../latency", "../../why", "../../view", "../../../replay",
	} {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "faulttest") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range named.FindAllSubmatch(text, -1) {
				found[string(m[1])] = path
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 20 {
		t.Fatalf("%d keys are named: %v", len(found), found)
	}
	for key, path := range found {
		if !slices.Contains(asked, key) {
			t.Errorf("%s: MixCoord is not asked for %s", path, key)
		}
	}
	if !slices.IsSorted(asked) || len(slices.Compact(slices.Clone(asked))) != len(asked) {
		t.Errorf("not in order, or twice: %v", asked)
	}
	for _, key := range asked {
		if !strings.HasPrefix(key, "dataCoord.") && !strings.HasPrefix(key, "queryCoord.") {
			t.Errorf("%s is of another section", key)
		}
	}
}
