package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/hints"
)

// Answers collects the redacted answers of processes in a temporary file. The size of a bundle's member must be
// known before it is written, and the answers of a large cluster should not be held in memory.
type Answers struct {
	mu   sync.Mutex
	file *os.File
	w    *bufio.Writer
	size int64
	err  error
	// N is the number of answers.
	N int
	// Etcd is the health of etcd, or nil if it is unknown.
	Etcd *model.Etcd
	// Gaps lists the parts that could not be read.
	Gaps []model.Gap
}

// NewAnswers returns an empty collection. The caller must close it.
func NewAnswers() (*Answers, error) {
	f, err := os.CreateTemp("", "kitescope-runtime-")
	if err != nil {
		return nil, fmt.Errorf("save the node answers: %w", err)
	}
	return &Answers{file: f, w: bufio.NewWriter(f)}, nil
}

// Keep adds an answer. AddTo returns its error, e.g. if the answers exceed maxAnswersMember bytes.
func (s *Answers) Keep(r live.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.N++
	if s.err = live.WriteRecord(s, r); s.err == nil && s.size > maxAnswersMember {
		s.err = &hints.Error{
			Err:    fmt.Errorf("the answers of the processes exceed %d MiB", maxAnswersMember>>20),
			Advice: "save without them: omit --live and --runtime",
		}
	}
}

// Write implements io.Writer, for Keep.
func (s *Answers) Write(line []byte) (int, error) {
	s.size += int64(len(line))
	return s.w.Write(line)
}

// AddTo writes the gaps and the members EtcdMember and AnswersMember into a bundle.
func (s *Answers) AddTo(b *source.BundleWriter) error {
	for _, g := range s.Gaps {
		b.AddGap(source.Gap{Where: g.Where, Reason: g.Reason})
	}
	if s.Etcd != nil {
		text, err := json.Marshal(s.Etcd)
		if err != nil {
			return err
		}
		if err := b.AddMember(EtcdMember, int64(len(text)), bytes.NewReader(text)); err != nil {
			return err
		}
	}
	if err := errors.Join(s.err, s.w.Flush()); err != nil {
		return fmt.Errorf("save the node answers: %w", err)
	}
	if s.N == 0 {
		return nil
	}
	size, err := s.file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = s.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("save the node answers: %w", err)
	}
	return b.AddMember(AnswersMember, size, s.file)
}

// Close removes the temporary file.
func (s *Answers) Close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}

// AddRecording adds the answers in the recording at path, redacted.
func (s *Answers) AddRecording(path string) error {
	warnings, err := live.ReadFile(path, func(r live.Record) { s.Keep(live.Redact(r)) })
	if err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	s.Gaps = append(s.Gaps, recordingGaps(warnings)...)
	return nil
}

// AddBundle adds the answers and the health of etcd stored in another bundle.
func (s *Answers) AddBundle(ctx context.Context, b *source.Bundle) error {
	var err error
	// Redact again, because an older version may have missed secrets.
	s.Etcd, s.Gaps, err = readStored(ctx, b, func(r live.Record) error {
		s.Keep(live.Redact(r))
		return s.err
	})
	if s.err != nil {
		return s.err
	}
	return err
}

// AddRecorded adds the answers and the health of etcd that a recording has for the moment of a header. recorded is
// false for other sources.
func (s *Answers) AddRecorded(ctx context.Context, src source.Source, header source.Header) (recorded bool, err error) {
	rounds := RoundsOf(src)
	if rounds == nil {
		return false, nil
	}
	defer rounds.Close()
	lacks, err := rounds.seek(ctx, header.Revision, header.Taken)
	if err != nil {
		return true, err
	}
	if lacks != "" {
		s.Gaps = append(s.Gaps, model.Gap{Where: source.RecordingGap, Reason: lacks})
	} else if rounds.known() {
		d := rounds.decoder
		s.Etcd = d.head.Etcd
		for _, r := range append(d.last(), d.before...) {
			s.Keep(live.Redact(r)) // an older version may have missed secrets
		}
	}
	return true, s.err
}
