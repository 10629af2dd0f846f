package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonStream reads JSON piece by piece, so that a document need not fit into memory.
type jsonStream struct {
	*json.Decoder
	in *pieces
}

// maxPiece bounds one value that is decoded at once: an event with its stack.
const maxPiece = 64 << 20

// pieces fails when more is read for one piece than maxPiece.
type pieces struct {
	r       io.Reader
	stopped func() error
	left    int64
}

func (p *pieces) Read(b []byte) (int, error) {
	if err := p.stopped(); err != nil {
		return 0, err
	}
	if p.left <= 0 {
		return 0, fmt.Errorf("one value of the JSON is larger than %d bytes", maxPiece)
	}
	n, err := p.r.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	return n, err
}

func newJSONStream(r io.Reader, stopped func() error) *jsonStream {
	in := &pieces{r: r, stopped: stopped, left: maxPiece}
	return &jsonStream{json.NewDecoder(in), in}
}

// piece decodes the next value.
func (s *jsonStream) piece(into any) error {
	s.in.left = maxPiece
	return explained(s.Decode(into))
}

func (s *jsonStream) token() (json.Token, error) {
	s.in.left = maxPiece
	t, err := s.Token()
	return t, explained(err)
}

// explained says what an error means to someone who did not write the reader.
func explained(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON is cut in the middle")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("the JSON has a %s where it cannot be", wrong.Value)
		}
		return fmt.Errorf("the JSON has a %s as %s", wrong.Value, wrong.Field)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the JSON is broken at byte %d: %w", syntax.Offset, err)
	}
	return err
}

// object calls f for each key of an object; f reads the value.
func (s *jsonStream) object(f func(key string) error) error {
	if ok, err := s.opens('{'); !ok || err != nil {
		return err
	}
	for s.More() {
		t, err := s.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := f(key); err != nil {
			return err
		}
	}
	_, err := s.token()
	return err
}

// array calls f for each element of an array; f reads it.
func (s *jsonStream) array(f func() error) error {
	if ok, err := s.opens('['); !ok || err != nil {
		return err
	}
	for s.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err := s.token()
	return err
}

// opens reads what an object or array begins with; null stands for an empty one.
func (s *jsonStream) opens(want json.Delim) (bool, error) {
	t, err := s.token()
	if err != nil || t == nil {
		return false, err
	}
	if t != want {
		return false, fmt.Errorf("the JSON has %v instead of %v", t, want)
	}
	return true, nil
}

// maxNested is how deep values may lie in each other, as in encoding/json.
const maxNested = 10_000

// skip passes over a value, however large. The decoder keeps a word of each array that is open.
func (s *jsonStream) skip() error {
	for depth := 0; ; {
		t, err := s.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxNested {
				return fmt.Errorf("the JSON is nested more than %d deep", maxNested)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
