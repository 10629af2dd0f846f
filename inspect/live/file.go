package live

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"kitescope/inspect/model"
)

// maxRecordLine bounds a line of a recording, in bytes. A response of 32 MiB, the default limit of a Client,
// takes 43 MiB as base64; recordings of other programs may have larger ones.
const maxRecordLine = 128 << 20

// maxRecording bounds all lines of a recording together, in bytes. A recording may be compressed, in a bundle
// twice, and expand without end.
const maxRecording = 4 << 30

// BrokenLinesError reports that lines of a recording could not be read. All other lines were read.
type BrokenLinesError struct {
	Count int
	// First describes the first broken line: its number and its fault.
	First string
}

func (e *BrokenLinesError) Error() string {
	if e.Count == 1 {
		return e.First
	}
	return fmt.Sprintf("%d lines are not records; the first: %s", e.Count, e.First)
}

// ReadRecords reads a recording, plain or compressed with gzip or zstd, and calls yield for each record. It
// skips broken lines and returns a *BrokenLinesError for them at the end. A truncated file is reported as such.
// It stops at an error of yield.
func ReadRecords(r io.Reader, yield func(Record) error) error {
	in, err := unpack(r)
	if err != nil {
		return err
	}
	defer in.close()
	return readLines(in, yield)
}

func readLines(in io.Reader, yield func(Record) error) error {
	lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: maxRecordLine, remaining: maxRecording}
	broken := &BrokenLinesError{}
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		var r Record
		switch {
		case err != nil && !errors.Is(err, errLongLine):
			return fmt.Errorf("read the recording: %w", err)
		case err == nil && len(bytes.TrimSpace(line)) == 0:
			continue
		case err == nil:
			err = decodeRecord(line, &r)
		}
		if err != nil {
			if broken.Count++; broken.Count == 1 {
				broken.First = fmt.Sprintf("line %d: %v", lines.number, err)
			}
			continue
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	if broken.Count > 0 {
		return broken
	}
	return nil
}

func decodeRecord(line []byte, r *Record) error {
	if err := json.Unmarshal(line, r); err != nil {
		return errors.New("not a record: " + oneLine(err.Error()))
	}
	if r.Method == "" {
		return errors.New("not a record: it has no method")
	}
	return nil
}

// WriteRecord writes a record as a line of a recording. The record must have passed through Redact.
func WriteRecord(w io.Writer, r Record) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

var errLongRecording = fmt.Errorf("it unpacks to more than %s", mebibytes(maxRecording))

var errLongLine = fmt.Errorf("longer than %s", mebibytes(maxRecordLine))

// lineReader reads lines up to a limit in length. It does not retain longer ones.
type lineReader struct {
	in        *bufio.Reader
	limit     int
	remaining int64 // remaining bytes of all lines
	number    int
	line      []byte
}

// next returns the next line, valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	l.number++
	tooLong := false
	for {
		part, err := l.in.ReadSlice('\n')
		if l.remaining -= int64(len(part)); l.remaining < 0 {
			return nil, errLongRecording
		}
		if len(l.line)+len(part) > l.limit {
			tooLong, l.line = true, nil
		}
		if !tooLong {
			l.line = append(l.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(l.line) == 0 && !tooLong):
			return nil, err
		case tooLong:
			return nil, errLongLine
		}
		return l.line, nil
	}
}

// decompressed is a decompressed stream.
type decompressed struct {
	*bufio.Reader
	close func()
}

// unpack detects the compression from the first bytes, because file names are unreliable.
func unpack(r io.Reader) (*decompressed, error) {
	in := bufio.NewReader(r)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("unpack gzip: %w", err)
		}
		return &decompressed{bufio.NewReader(z), func() {}}, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRecordLine))
		if err != nil {
			return nil, fmt.Errorf("unpack zstd: %w", err)
		}
		return &decompressed{bufio.NewReader(z), z.Close}, nil
	}
	return &decompressed{in, func() {}}, nil
}

// ReadFile passes the records in a file to add. The file is a recording, the text of a process's /metrics, or
// a folder of such files. It returns a warning for each part that could not be read.
func ReadFile(path string, add func(Record)) (warnings []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		f := &fileReader{add: add}
		if err := f.read(path); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if f.count == 0 && len(f.warnings) > 0 {
			return nil, errors.New(f.warnings[0])
		}
		return f.warnings, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	f := &fileReader{add: add}
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err := f.read(name); err != nil {
			f.warnings = append(f.warnings, fmt.Sprintf("%s is skipped: %v", name, err))
		}
	}
	if f.count == 0 {
		return f.warnings, fmt.Errorf("read %s: no recording and no /metrics text in it", path)
	}
	return f.warnings, nil
}

// fileReader reads files one after the other.
type fileReader struct {
	add      func(Record)
	count    int
	warnings []string
}

func (f *fileReader) warn(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
}

func (f *fileReader) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := unpack(file)
	if err != nil {
		return err
	}
	defer in.close()
	start, err := in.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch start = bytes.TrimLeft(start, " \t\r\n"); {
	case len(start) == 0:
		return errors.New("it is empty")
	case start[0] == '{':
		return f.recording(path, in)
	case start[0] == '#' || startsAsSample(start):
		return f.metrics(path, in)
	}
	return errors.New("it is not a recording (JSON lines) or /metrics text")
}

// startsAsSample reports whether text begins like a sample of metrics: with a name followed by a blank or a
// brace.
func startsAsSample(start []byte) bool {
	end := bytes.IndexAny(start, "{ \t")
	return end > 0 && plainName(string(start[:end]))
}

func (f *fileReader) recording(path string, in io.Reader) error {
	found := 0
	err := readLines(in, func(r Record) error {
		found++
		f.add(r)
		return nil
	})
	f.count += found
	switch {
	case err != nil && found == 0:
		return fmt.Errorf("it is not a recording: %w", err)
	case err != nil:
		f.warn("%s, in part: %v", path, err)
	case found == 0:
		return errors.New("it is not a recording: no records in it")
	}
	return nil
}

// metrics makes a record of the text of /metrics, which names its process itself.
func (f *fileReader) metrics(path string, in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxMetricsBytes+1))
	if err != nil && len(text) == 0 {
		return err
	}
	if err != nil {
		f.warn("%s, in part: %v", path, err)
	}
	r, err := TextRecord("metrics of "+filepath.Base(path), text, time.Time{})
	var whose *namelessError
	switch {
	case errors.As(err, &whose):
		f.add(r)
		f.warn("metrics of %s: %s", path, whose)
		return nil
	case r.Response == nil:
		return err
	case err != nil:
		f.warn("%s, in part: %v", path, err)
	}
	f.count++
	f.add(r)
	return nil
}

// namelessError reports that a text does not identify its process.
type namelessError struct{}

func (*namelessError) Error() string { return "the text does not identify its process" }

// TextRecord returns a record of the text of /metrics at a time, which names its process itself. If it returns
// an error and the record has a Response, the record holds the readable part. Otherwise the error is a short
// reason with the name.
func TextRecord(name string, text []byte, at time.Time) (Record, error) {
	m, err := ParseMetrics(bytes.NewReader(text), at)
	if len(m.Families) == 0 {
		return Record{}, err
	}
	who := slices.SortedFunc(maps.Keys(ownSessions(m)), func(a, b sessionKey) int {
		return cmp.Compare(a.String(), b.String())
	})
	if len(who) == 0 {
		err := &namelessError{}
		return Record{Method: name, Outcome: model.NotAsked.String(), Error: err.Error()}, err
	}
	return Record{
		Role: who[0].role, Node: who[0].node, Method: methodMetrics, Response: text, At: at,
		Outcome: model.Answered.String(),
	}, err
}
