package target_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine/binlog"
	"kitescope/engine/target"
)

// TestDescribeLogsOfMilvus checks that every log that a real Milvus 2.3.5 wrote opens, and that all columns of a
// segment have the same number of rows.
func TestDescribeLogsOfMilvus(t *testing.T) {
	root := filepath.Join("..", "..", "testdata", "storage", "2.3.5")
	rows, kinds := map[string]float64{}, map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		l, err := target.DescribeLog(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		name, _ := filepath.Rel(root, path)
		kind := map[string]binlog.Kind{"insert_log": binlog.InsertLog, "delta_log": binlog.DeltaLog}[strings.Split(
			filepath.ToSlash(name), "/",
		)[0]]
		switch {
		case kind == binlog.Other && l != nil:
			t.Errorf("%s is a %s", name, l.Kind)
		case kind != binlog.Other && (l == nil || l.Kind != kind.String()):
			t.Errorf("%s is %+v, want a %s", name, l, kind)
		case l != nil:
			kinds[l.Kind]++
		}
		if kind == binlog.InsertLog && l != nil {
			folder, err := target.DescribeLog(t.Context(), filepath.Dir(path))
			if err != nil || folder == nil {
				t.Errorf("the folder of %s: %+v, %v", name, folder, err)
				return nil
			}
			n, segment := fact(folder, "rows"), filepath.Dir(filepath.Dir(path))
			if before, seen := rows[segment]; seen && before != n || n <= 0 {
				t.Errorf("%s: %v rows, other columns have %v", name, n, before)
			}
			rows[segment] = n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if kinds[binlog.InsertLog.String()] < 50 || kinds[binlog.DeltaLog.String()] < 1 {
		t.Errorf("only %v", kinds)
	}
}

func fact(l *target.Log, key string) float64 {
	for _, f := range l.Facts {
		if f.Key == key {
			return f.Number
		}
	}
	return -1
}

func TestDescribeLogDeletes(t *testing.T) {
	l, err := target.DescribeLog(t.Context(),
		filepath.Join("..", "..", "testdata", "storage", "2.3.5", "delta_log", "470590760626297790",
			"470590760626297791", "470590760626297798", "470590760626097609"))
	if err != nil || l == nil {
		t.Fatalf("%+v, %v", l, err)
	}
	var b strings.Builder
	for _, f := range l.Facts {
		b.WriteString(f.Name + " " + f.Text + "\n")
	}
	text := b.String()
	for _, want := range []string{
		"deletes 25\n", "keys 25\n", "range 0 to 24\n", "collection 470590760626297790\n",
		"deleted 2026-11-20T07:55:39.455Z\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

func TestDescribeLogOtherFiles(t *testing.T) {
	for name, text := range map[string]string{
		"json": `{"a": 1}`, "list": `[1]`, "empty": "", "short": "PAR1", "text": "not a log",
		"magic": "\xbc\xfa\xff\x00 and no more",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := target.DescribeLog(t.Context(), path); l != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	if l, err := target.DescribeLog(t.Context(), filepath.Join(t.TempDir(), "gone")); l != nil || err != nil {
		t.Errorf("what is not there: %+v, %v", l, err)
	}
}

// TestDescribeManifest checks that descriptions of manifests in both forms list their files.
func TestDescribeManifest(t *testing.T) {
	for name, want := range map[string]struct {
		rows, groups, deletes float64
		says                  string
	}{
		"segment/files/insert_log/1/2/3/_metadata/manifest-3.avro": {
			200, 2, 25, "fields 0, 1, 100, 200 rows in parquet: 0_",
		},
		"container/_metadata/manifest-7.avro": {200, 2, 28, "fields 101, 200 rows in vortex: 1_a.vortex"},
	} {
		l, err := target.DescribeLog(t.Context(), filepath.Join("..", "manifest", "testdata", name))
		if err != nil || l == nil {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		var says strings.Builder
		for _, f := range l.Facts {
			says.WriteString(f.Name + " " + f.Text + "\n")
		}
		text := says.String()
		if l.Kind != "manifest" || fact(l, "rows") != want.rows || fact(l, "column_groups") != want.groups ||
			fact(l, "deletes") != want.deletes || !strings.Contains(text, want.says) {
			t.Errorf("%s: %s\n%s", name, l.Kind, text)
		}
	}
}
