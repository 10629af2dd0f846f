// Command merge prints the table of keys that differ between releases of Milvus. With -text it prints the
// keys whose values are text without secrets. settings.sh runs it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// fold normalizes a key as Milvus does to compare keys (pkg/config/source.go: formatKey).
func fold(key string) string {
	return strings.ToLower(strings.NewReplacer("/", "", "_", "", ".", "", "-", "").Replace(key))
}

// secretKey matches keys whose defaults may be secrets.
var secretKey = regexp.MustCompile(`(?i)auth\.|password|secret|accesskey`)

// secretText matches keys of texts that may contain a secret.
var secretText = regexp.MustCompile(`(?i)authparams|password|secret|accesskey|token|credential|sasl|cipher|kms|headers`)

// plain matches defaults such as booleans and numbers. Their keys need no list, because such values are
// always shown.
var plain = regexp.MustCompile(`(?i)^(true|false|[-+]?[\d.]+ ?[a-z%]{0,2})$`)

// olderTextKeys lists such keys of text from the milvus.yaml of 2.1 to 2.4.
const olderTextKeys = `common.chanNamePrefix.cmd
common.chanNamePrefix.dataCoordStatistic
common.chanNamePrefix.queryNodeStats
common.chanNamePrefix.rootCoordDelta
common.chanNamePrefix.search
common.chanNamePrefix.searchResult
common.subNamePrefix.proxySubNamePrefix
common.subNamePrefix.queryNodeSubNamePrefix
common.subNamePrefix.rootCoordSubNamePrefix
dataCoord.address
indexCoord.address
kafka.consumer.client.id
kafka.producer.client.id
queryCoord.address
rootCoord.address`

type item struct {
	Key, Default string
	Fallback     []string
}

func main() {
	files := os.Args[1:]
	text := files[0] == "-text"
	if text {
		files = files[1:]
	}
	rows, texts := map[string]*[4]string{}, strings.Split(olderTextKeys, "\n")
	row := func(key string) *[4]string {
		folded := fold(key)
		if rows[folded] == nil {
			rows[folded] = &[4]string{key, "·", "·", "·"}
		}
		return rows[folded]
	}
	for i, path := range files {
		items, err := read(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, x := range items {
			r := row(x.Key)
			r[0], r[i+1] = x.Key, strings.NewReplacer("\t", " ", "\n", " ").Replace(x.Default)
			if x.Default == "" {
				r[i+1] = `""`
			}
		}
		for _, x := range items {
			if !plain.MatchString(x.Default) && !strings.HasSuffix(x.Key, "*") {
				texts = append(texts, x.Key)
				texts = append(texts, x.Fallback...)
			}
			for _, f := range x.Fallback {
				if r := row(f); r[i+1] == "·" && f != strings.ToUpper(f) {
					r[i+1] = "→" + x.Key
				}
			}
		}
	}
	if text {
		slices.Sort(texts)
		for _, key := range slices.Compact(texts) {
			if !secretText.MatchString(key) && key != strings.ToUpper(key) {
				fmt.Println(key)
			}
		}
		return
	}
	fmt.Print(`# Keys of Milvus's configuration that are not in every release, or have another default there.
# From pkg/util/paramtable at 2.5.14, 2.6.22 and 3.0.1, by tools/settings/settings.sh. "·": no such key; "→key": it is
# read where that key is not set. Of later patch releases a few may differ.
key	2.5	2.6	3.0
`)
	for _, folded := range slices.Sorted(maps.Keys(rows)) {
		r := rows[folded]
		if r[1] == r[2] && r[2] == r[3] || secretKey.MatchString(r[0]) {
			continue
		}
		fmt.Println(strings.Join(r[:], "\t"))
	}
}

// read decodes the lines that hold keys. The library writes its own messages to the same output. If a key
// occurs twice, the first one counts.
func read(path string) ([]item, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []item
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var x item
		if !strings.HasPrefix(lines.Text(), `{"Key"`) || json.Unmarshal(lines.Bytes(), &x) != nil || seen[x.Key] {
			continue
		}
		seen[x.Key] = true
		list = append(list, x)
	}
	return list, lines.Err()
}
