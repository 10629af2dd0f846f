package model

import "testing"

// TestFoldConfigKey checks that the ASCII path and the general path agree.
func TestFoldConfigKey(t *testing.T) {
	for key, want := range map[string]string{
		"":                       "",
		"a":                      "a",
		"common.storageType":     "commonstoragetype",
		"queryNode/grpc/ip":      "querynodegrpcip",
		"A_b-C.d/E":              "abcde",
		"etcd.ROOTpath@[`{":      "etcdrootpath@[`{",
		"ключ.Ä-ß_\u212a":        "ключäßk",
		"\xff.\xfeA":             "\uFFFD\uFFFDa",
		"a\x00B\x7f":             "a\x00b\x7f",
		"already.folded/" + long: "alreadyfolded" + long,
	} {
		if got, slow := FoldConfigKey(key), foldAnyKey(key); got != want || slow != want {
			t.Errorf("%q: %q, as any text %q, want %q", key, got, slow, want)
		}
	}
}

const long = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
