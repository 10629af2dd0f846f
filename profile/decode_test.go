package profile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"kitescope/profile"
)

// wire builds messages of a pprof file, including ones that no program writes.
type wire []byte

func (w wire) number(field int, v uint64) wire {
	return binary.AppendUvarint(binary.AppendUvarint(slices.Clip(w), uint64(field)<<3), v)
}

func (w wire) bytes(field int, b []byte) wire {
	w = binary.AppendUvarint(slices.Clip(w), uint64(field)<<3|2)
	return append(binary.AppendUvarint(w, uint64(len(b))), b...)
}

func (w wire) packed(field int, values ...uint64) wire {
	var b []byte
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return w.bytes(field, b)
}

func (w wire) names(names ...string) wire {
	for _, n := range names {
		w = w.bytes(6, []byte(n))
	}
	return w
}

// oneType returns a profile with the sample type a/b, without samples and locations.
func oneType() wire {
	return wire{}.bytes(1, wire{}.number(1, 1).number(2, 2)).names("", "a", "b")
}

// oneFunction appends function 1.
func (w wire) oneFunction() wire { return w.bytes(5, wire{}.number(1, 1).number(2, 1)) }

// location appends a location in function 1.
func (w wire) location(id uint64) wire {
	return w.bytes(4, wire{}.number(1, id).bytes(4, wire{}.number(1, 1)))
}

func compressed(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// oddForms returns profiles that no program writes but that google's reader accepts.
func oddForms() map[string][]byte {
	const far = math.MaxUint64
	sample := wire{}.packed(1, 1).packed(2, 5)
	base := oneType().oneFunction()
	return map[string][]byte{
		"nothing but a table of names": wire{}.names(""),
		"no samples":                   base,
		"samples before everything":    append(wire{}.bytes(2, sample), base.location(1)...),
		"unpacked": base.location(1).bytes(2,
			wire{}.number(1, 1).number(1, 1).number(2, 5)),
		"packed and unpacked mixed": base.location(1).bytes(2,
			wire{}.number(1, 1).packed(1, 1, 1).packed(2, 5)),
		"an empty packed list": base.location(1).bytes(2,
			wire{}.packed(1).packed(2).packed(1, 1).packed(2, 5)),
		"labels between": base.location(1).bytes(2,
			wire{}.bytes(3, wire{}.number(1, 1).number(2, 2)).packed(1, 1).bytes(3,
				wire{}.number(1, 2).number(3, 7)).packed(2, 5)),
		"equal labels in another order": base.location(1).bytes(2,
			wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(2, 2)).bytes(3, wire{}.number(1, 2).number(2, 1))).
			bytes(2,
				wire{}.packed(2, 5).bytes(3, wire{}.number(2, 1).number(1, 2)).bytes(3,
					wire{}.number(1, 1).number(2, 2))),
		"a label of nothing": base.bytes(2, wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1))),
		"a number label of 0 with a unit": base.bytes(2,
			wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(4, 2))),
		"a label that is text and number": base.bytes(2,
			wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(2, 2).number(3, 9).number(4, 1))),
		"numbers of one key, one with a unit": base.bytes(2,
			wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(3, 2)).bytes(3,
				wire{}.number(1, 1).number(3, 2).number(4, 1))),
		"a stack of no frames": base.bytes(2, wire{}.packed(2, 5)),
		"negative values":      base.location(1).bytes(2, wire{}.packed(1, 1).number(2, far)),
		"ids without order": base.location(7).location(3).location(1).bytes(2,
			wire{}.packed(1, 3, 1, 7).packed(2, 5)),
		"ids of 64 bits": base.location(far).location(1<<40).location(2).bytes(2,
			wire{}.packed(1, far, 2, 1<<40, far).packed(2, 5)),
		"a far id that nothing refers to": base.location(far).location(1).bytes(2,
			wire{}.packed(1, 1).packed(2, 5)),
		"ids far apart": base.location(1<<29).location(1).bytes(2,
			wire{}.packed(1, 1, 1<<29).packed(2, 5)),
		"a mapping that does not exist": base.bytes(4, wire{}.number(1, 1).number(2, 99)).bytes(2, sample),
		"a mapping far away": base.bytes(3, wire{}.number(1, far).number(2, 8)).bytes(4,
			wire{}.number(1, 1).number(2, far)).bytes(2, sample),
		"a number in too many bytes": base.location(1).bytes(2,
			append(wire{}.packed(2, 5), 0x0a, 0x02, 0x81, 0x00)),
		"a tag in too many bytes": base.location(1).bytes(2,
			append(wire{}.packed(2, 5), 0x8a, 0x00, 0x01, 0x01)),
		"a number of more than 64 bits": append(slices.Clip(base),
			append([]byte{12 << 3}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)...),
		"unknown fields": append(
			base.number(100, 5).bytes(101, make([]byte, 1<<20)).location(1).bytes(2, sample), 0xa5, 0x06, 1, 2, 3, 4,
			0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8,
		),
		"field 0": append(wire{0, 0}, base...),
		"fields that come twice": base.number(12, 1).number(12, 2).bytes(11,
			wire{}.number(1, 1).number(2, 2)).bytes(11, wire{}.number(1, 1)),
		"comments packed and not":             base.number(13, 1).packed(13, 2, 1).number(13, 0),
		"a second table of names":             base.names("", "c").number(15, 4),
		"a negative time":                     base.number(9, far),
		"a time and a duration beyond reason": base.number(9, math.MaxInt64).number(10, 1<<63),
		"one location in two functions": base.bytes(5, wire{}.number(1, 9).number(2, 2)).bytes(4,
			wire{}.number(1, 1).bytes(4, wire{}.number(1, 9).number(2, far)).bytes(4, wire{}.number(1, 1)).number(5,
				3)).bytes(2, sample),
		"two types with the same name": base.bytes(1, wire{}.number(1, 1)).bytes(2, wire{}.packed(2, 5, 6)),
		"a type without a name":        wire{}.bytes(1, nil).names("").bytes(2, wire{}.packed(2, 5)),
		"a function id that is used, not dense": oneType().bytes(5, wire{}.number(1, far)).bytes(4,
			wire{}.number(1, 1).bytes(4, wire{}.number(1, far))),
	}
}

func TestDecodeOddForms(t *testing.T) {
	for name, data := range oddForms() {
		t.Run(name, func(t *testing.T) {
			for form, data := range map[string][]byte{"plain": data, "compressed": compressed(t, data)} {
				want, err := parseGoogle(data)
				if err != nil {
					t.Fatalf("google's reader does not take it: %v", err)
				}
				got, err := profile.Decode(context.Background(), iotest.OneByteReader(bytes.NewReader(data)),
					profile.Limits{})
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if diff := difference(meaningOfGoogle(want), meaningOf(got)); diff != "" {
					t.Errorf("%s: google's reader (-) and ours (+) differ:\n%s", form, diff)
				}
			}
		})
	}
}

// TestDecodeConflictNotes checks that Decode adds a Note for contradictory fields, which it reads as
// google's reader does.
func TestDecodeConflictNotes(t *testing.T) {
	base := oneType().oneFunction()
	const twice = "fields given twice"
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"no field twice", base.location(1), ""},
		{"one number twice", base.location(1).number(12, 3).number(12, 3), ""},
		{"a period twice", base.location(1).number(12, 3).number(12, 4), twice},
		{"a function's name twice", base.location(1).bytes(5, wire{}.number(1, 9).number(2, 1).number(2, 2)), twice},
		{"a mapping's limit twice", base.location(1).bytes(3, wire{}.number(1, 9).number(3, 1).number(3, 2)), twice},
		{"a location's address twice", base.bytes(4, wire{}.number(1, 1).number(3, 1).number(3, 2)), twice},
		{
			"a line's number twice",
			base.bytes(4, wire{}.number(1, 1).bytes(4, wire{}.number(1, 1).number(2, 1).number(2, 2))), twice,
		},
		{
			"a mapping that does not exist", base.bytes(4, wire{}.number(1, 1).number(2, 99)),
			"locations in a mapping that the file does not have",
		},
	} {
		p, err := decode(test.data)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, n := range p.Notes {
			got = append(got, n.What)
		}
		if len(got) > 1 || !strings.HasPrefix(strings.Join(got, ""), test.want) || test.want == "" && len(got) > 0 {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestDecodeRefuses checks that Decode reports an error for inputs that google's reader rejects.
func TestDecodeRefuses(t *testing.T) {
	base := oneType().oneFunction()
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"no table of names", wire{}.bytes(1, wire{}.number(1, 1)), "cut after 4 bytes"},
		{"a table of names that begins wrong", wire{}.names("a"), "table of names"},
		{"a name that does not exist", base.number(7, 77), "name 77"},
		{"a name of a number below 0", base.number(7, math.MaxUint64), "name 18446744073709551615"},
		{
			"a label's name that does not exist",
			base.bytes(2, wire{}.packed(2, 5).bytes(3, wire{}.number(1, 50).number(2, 1))), "name 50",
		},
		{
			"a location that does not exist",
			base.location(1).bytes(2, wire{}.packed(1, 1).packed(2, 5)).bytes(2, wire{}.packed(1, 1, 2).packed(2, 5)),
			"sample 2 refers to location 2",
		},
		{"location 0", base.location(1).bytes(2, wire{}.packed(1, 0).packed(2, 5)), "sample 1 refers to location 0"},
		{
			"a far location that does not exist", base.location(1).bytes(2, wire{}.packed(1, 1<<50).packed(2, 5)),
			"location 1125899906842624",
		},
		{
			"a sparse location that does not exist",
			base.location(9).location(5).bytes(2, wire{}.packed(1, 7).packed(2, 5)), "location 7",
		},
		{
			"a function that does not exist", base.bytes(4, wire{}.number(1, 1).bytes(4, wire{}.number(1, 2))),
			"function 2",
		},
		{"a line in no function", base.bytes(4, wire{}.number(1, 1).bytes(4, wire{}.number(2, 2))), "function 0"},
		{"a location with id 0", base.location(0), "id 0"},
		{"a mapping without an id", base.bytes(3, nil), "mapping 1 has the id 0"},
		{"two locations with one id", base.location(1).location(1), "the id 1 is used by two locations"},
		{
			"two locations with one far id", base.location(math.MaxUint64).location(math.MaxUint64),
			"used by two locations",
		},
		{"two locations with one sparse id", base.location(1 << 28).location(1 << 28), "used by two locations"},
		{"two functions with one id", base.oneFunction(), "two functions"},
		{"values that are too few", base.bytes(1, nil).bytes(2, wire{}.packed(2, 5)), "have 1 values, but it names 2"},
		{
			"samples of different length", base.bytes(2, wire{}.packed(2, 5)).bytes(2, wire{}.packed(2, 5, 6)),
			"sample 2 has 2 values",
		},
		{"values of no type", wire{}.names("").bytes(2, wire{}.packed(2, 5)), "have 1 values, but it names 0"},
		{"a sample of nothing", wire{}.names("").bytes(2, nil), "no values"},
		{"two profiles", append(base.number(9, 5), base.number(9, 6)...), "several profiles"},
		{"a text where a number should be", base.bytes(12, []byte("x")), "field 12 is of type 2"},
		{"a number where a message should be", base.number(2, 5), "field 2 is of type 0"},
		{"a wire type that does not exist", append(slices.Clip(base), 12<<3|7), "type 7"},
		{"a message that ends in a field", base.bytes(2, []byte{0x0a}), "ends within a field"},
		{"a field longer than its message", base.bytes(2, []byte{0x0a, 9, 1}), "longer than"},
		{"a list that ends in a number", base.bytes(2, []byte{0x0a, 1, 0x80}), "ends within the id"},
		{
			"a number of eleven bytes",
			append(slices.Clip(base), 12<<3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
			"more than 10 bytes",
		},
		{
			"a length beyond all",
			append(slices.Clip(base), 2<<3|2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), "field 2 is of",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := parseGoogle(test.data); err == nil {
				t.Error("google's reader takes it")
			}
			_, err := decode(test.data)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %v, want one line with %q", err, test.want)
			}
			if hintOf(err) == "" {
				t.Errorf("no hint with %v", err)
			}
		})
	}
}

func TestDecodeOtherFormats(t *testing.T) {
	debug2, err := os.ReadFile(filepath.Join("..", "testdata", "profiles", "milvus-goroutine-debug2.txt"))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := os.ReadFile(filepath.Join("..", "testdata", "profiles", "milvus-trace-3s.out"))
	if err != nil {
		t.Fatal(err)
	}
	legacyCPU := func(order binary.AppendByteOrder) (b []byte) {
		for _, word := range []uint64{0, 3, 0, 10000, 0, 1, 1, 0x400000, 0, 1, 0} {
			b = order.AppendUint64(b, word)
		}
		return b
	}
	for _, test := range []struct{ name, data, want, hint string }{
		{"nothing", "", "the profile is empty", "pull it again"},
		{"debug=2", string(debug2), "a dump of goroutines (debug=2)", "without debug=1"},
		{"debug=1", "goroutine profile: total 12\n1 @ 0x43\n", "the text of goroutines", "without debug=1"},
		{"heap text", "heap profile: 1: 2 [3: 4] @ heap/1048576\n", "a heap profile of Go as text", "without debug=1"},
		{
			"heap text of tcmalloc", "heap profile:   3:  3072 [  5:  5120] @ heap_v2/524288\n",
			"a heap profile as text", "go tool pprof -proto",
		},
		{
			"growth text of tcmalloc", "heap profile:   85: 178257920 [  85: 178257920] @ growthz\n",
			"a heap profile as text", "go tool pprof -proto",
		},
		{
			"contention of C++", "--- contentionz 1 ---\ncycles/second = 3201000000\n", "a contention profile as text",
			"go tool pprof -proto",
		},
		{"mutex text", "--- mutex:\ncycles/second=2000\n", "a mutex profile as text", "without debug=1"},
		{"contention", "--- contention:\ncycles/second=2000\n", "block or mutex profile as text", "without debug=1"},
		{"threads", "threadcreate profile: total 12\n", "thread profile", "without debug=1"},
		{"binary legacy, little", string(legacyCPU(binary.LittleEndian)), "binary format before pprof", "-proto"},
		{"binary legacy, big", string(legacyCPU(binary.BigEndian)), "binary format before pprof", "-proto"},
		{"trace", string(trace), "an execution trace", "go tool trace"},
		{"web page", "\n<!DOCTYPE html><html><body>Sign in</body></html>", "a web page", "/debug/pprof/"},
		{"not found", "404 page not found\n", "no profile at that address", "address"},
		{
			"in use", "Could not enable CPU profiling: cpu profiling already in use\n",
			"another CPU profile was running", "pull it again",
		},
		{"JSON", `{"$schema":"https://www.speedscope.app"}`, "JSON", ""},
		{"a program", "\x7fELF\x02\x01\x01\x00\x00\x00", "a program", ""},
		{
			"text with an escape", "hello \u202e world " + strings.Repeat("x", 200),
			`begins with "hello \u202e world`, "",
		},
		{"rubbish", "\xf3\x9a\x01\x00\x99", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for form, data := range map[string][]byte{
				"plain": []byte(test.data), "compressed": compressed(t, []byte(test.data)),
			} {
				if form == "compressed" && test.data == "" {
					continue
				}
				_, err := decode(data)
				if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") ||
					len(err.Error()) > 200 {
					t.Fatalf("%s: error %v, want one line with %q", form, err, test.want)
				}
				if h := hintOf(err); h == "" || !strings.Contains(h, test.hint) {
					t.Errorf("%s: hint %q, want %q in it", form, h, test.hint)
				}
			}
		})
	}
}

func TestDecodeTruncated(t *testing.T) {
	whole := fixtures(t)["milvus-cpu-idle.pb.gz"]
	plain, err := gunzip(whole)
	if err != nil {
		t.Fatal(err)
	}
	for form, data := range map[string][]byte{"compressed": whole, "plain": plain} {
		for _, n := range []int{len(data) - 1, len(data) / 2, len(data) / 3, 20} {
			_, err := decode(data[:n])
			if err == nil || hintOf(err) == "" {
				t.Fatalf("%s, %d of %d bytes: error %v", form, n, len(data), err)
			}
			if want := fmt.Sprintf("the profile is cut after %d bytes", n); n > 20 && err.Error() != want {
				t.Errorf("%s: error %q, want %q", form, err, want)
			}
		}
	}
	for n := 0; n < len(plain); n += 1 + n%171 {
		if _, err := decode(plain[:n]); err == nil {
			// Only fields after the name table can be missing without an error.
			if _, err := parseGoogle(plain[:n]); err != nil {
				t.Fatalf("no error for %d of %d bytes, while google's reader says %v", n, len(plain), err)
			}
		}
	}
}

func TestDecodeCorrupt(t *testing.T) {
	whole := bytes.Clone(fixtures(t)["milvus-cpu-idle.pb.gz"])
	whole[len(whole)-6] ^= 1 // in the checksum
	_, err := decode(whole)
	if err == nil || !strings.Contains(err.Error(), "damaged") || hintOf(err) == "" {
		t.Errorf("wrong checksum: error %v", err)
	}
	whole = bytes.Clone(fixtures(t)["milvus-cpu-idle.pb.gz"])
	if _, err := decode(append(whole, "rest"...)); err == nil {
		t.Error("no error for what follows the compressed data")
	}
}

func TestDecodeJoinsMembersOfGzip(t *testing.T) {
	data := encode(t, mustDecode(t, fixtures(t)["milvus-cpu-idle.pb.gz"]))
	plain, err := gunzip(data)
	if err != nil {
		t.Fatal(err)
	}
	split := append(compressed(t, plain[:1000]), compressed(t, plain[1000:])...)
	if diff := difference(meaningOf(mustDecode(t, data)), meaningOf(mustDecode(t, split))); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeLimits(t *testing.T) {
	var sample, many, wide wire
	sample = sample.packed(1, 1).packed(2, 5)
	for range 1000 {
		many = many.bytes(2, sample)
	}
	wide = wide.bytes(2, wire{}.packed(2, make([]uint64, 2000)...))
	deep := wire{}.bytes(2, wire{}.packed(1, make([]uint64, 300_000)...).packed(2, 5))
	for _, test := range []struct {
		name   string
		data   []byte
		limits profile.Limits
		want   string
	}{
		{"bytes", many, profile.Limits{MaxBytes: 1000}, "too large: more than 1000 B when decompressed"},
		{"samples", many, profile.Limits{MaxSamples: 999}, "too large: more than 999 samples"},
		{"memory", deep, profile.Limits{MaxMemory: 1 << 20}, "too large: it would take more than 1.0 MiB of memory"},
		{"a name", wire{}.names("", strings.Repeat("n", 1<<20+1)), profile.Limits{}, "too large: a name of 1.0 MiB"},
		{"values", wide, profile.Limits{}, "too large: sample 1 has more than 1000 values"},
	} {
		_, err := profile.Decode(context.Background(), bytes.NewReader(append(test.data, oneType()...)), test.limits)
		if !errors.Is(err, profile.ErrTooLarge) || !strings.Contains(err.Error(), test.want) || hintOf(err) == "" {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
}

func TestDecodeCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := profile.Decode(ctx, bytes.NewReader(fixtures(t)["milvus-heap.pb.gz"]), profile.Limits{}); !errors.Is(
		err, context.Canceled,
	) {
		t.Errorf("error %v", err)
	}
	broken := errors.New("connection reset")
	if _, err := profile.Decode(context.Background(), iotest.ErrReader(broken), profile.Limits{}); !errors.Is(err,
		broken) {
		t.Errorf("error %v", err)
	}
	half := fixtures(t)["milvus-heap.pb.gz"][:5000]
	if _, err := profile.Decode(context.Background(), io.MultiReader(bytes.NewReader(half), iotest.ErrReader(broken)),
		profile.Limits{}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
