package pgo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"kitescope/profile"
	"kitescope/words/hints"
)

const preprofileHeader = "GO PREPROFILE V1\n"

// Bounds of what ReadEdges takes. The compiler's own reader takes no longer line (bufio.MaxScanTokenSize).
const (
	maxPreprofileName  = bufio.MaxScanTokenSize
	maxPreprofileEdges = 10_000_000
	maxPreprofileBytes = 1 << 30
)

// IsPreprofile reports whether the first bytes of a file are those of what `go tool preprofile` writes. Go takes such
// a file for -pgo as well, but it has edges only: neither samples nor leaves, by which a profile can be judged.
func IsPreprofile(head []byte) bool { return bytes.HasPrefix(head, []byte(preprofileHeader)) }

// ReadEdges reads what `go tool preprofile` writes (cmd/internal/pgo: FromSerialized). Files that are not in order of
// weight, which the compiler would take wrongly, and weights that pass 64 bits are refused.
func ReadEdges(r io.Reader) (*Edges, error) {
	b := bufio.NewReader(io.LimitReader(r, maxPreprofileBytes))
	if head, err := b.Peek(len(preprofileHeader)); !IsPreprofile(head) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, preprofileError(err)
		}
		return nil, preprofileError(errors.New("its header is not GO PREPROFILE V1"))
	}
	lines := bufio.NewScanner(b)
	lines.Buffer(nil, maxPreprofileName)
	lines.Scan() // the header
	e := &Edges{Weight: map[Edge]int64{}}
	for lines.Scan() {
		caller := lines.Text()
		if err := e.readEntry(lines, caller); err != nil {
			return nil, preprofileError(fmt.Errorf("entry %d: %w", len(e.ByWeight)+1, err))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, preprofileError(fmt.Errorf("entry %d: %w", len(e.ByWeight)+1, err))
	}
	return e, nil
}

func preprofileError(err error) error {
	return &hints.Error{Err: fmt.Errorf("read the preprocessed profile: %w", err), Advice: "make it again: go tool preprofile -i PROFILE -o FILE"}
}

// readEntry reads what follows the caller of an entry.
func (e *Edges) readEntry(lines *bufio.Scanner, caller string) error {
	if len(e.ByWeight) == maxPreprofileEdges {
		return fmt.Errorf("%w: more than %d entries", profile.ErrTooLarge, maxPreprofileEdges)
	}
	if !lines.Scan() {
		return errors.Join(errors.New("its callee is missing"), lines.Err())
	}
	callee := lines.Text()
	if !lines.Scan() {
		return errors.Join(errors.New("its weight is missing"), lines.Err())
	}
	first, second, ok := strings.Cut(lines.Text(), " ")
	if !ok {
		return errors.New("it has one number where two are wanted")
	}
	offset, err := strconv.Atoi(first)
	if err != nil {
		return fmt.Errorf("its line: %w", err)
	}
	weight, err := strconv.ParseInt(second, 10, 64)
	if err != nil {
		return fmt.Errorf("its weight: %w", err)
	}
	edge := Edge{Caller: caller, Callee: callee, Offset: offset}
	if _, ok := e.Weight[edge]; ok {
		return errors.New("it is there twice")
	}
	if n := len(e.ByWeight); n > 0 && e.Weight[e.ByWeight[n-1]] < weight {
		return errors.New("it is heavier than the one before")
	}
	if weight > 0 && e.Total > math.MaxInt64-weight || weight < 0 && e.Total < math.MinInt64-weight {
		return errors.New("the weights pass 64 bits")
	}
	e.Weight[edge] = weight
	e.ByWeight = append(e.ByWeight, edge)
	e.Total += weight
	return nil
}

// WriteTo writes what `go tool preprofile` writes (cmd/internal/pgo: WriteTo).
func (e *Edges) WriteTo(w io.Writer) (int64, error) {
	count := &counter{w: w}
	b := bufio.NewWriterSize(count, 64<<10)
	// A bufio.Writer keeps its error, which Flush gives.
	_, _ = b.WriteString(preprofileHeader)
	var number []byte
	for _, edge := range e.ByWeight {
		_, _ = b.WriteString(edge.Caller)
		_ = b.WriteByte('\n')
		_, _ = b.WriteString(edge.Callee)
		_ = b.WriteByte('\n')
		number = strconv.AppendInt(number[:0], int64(edge.Offset), 10)
		number = append(number, ' ')
		number = strconv.AppendInt(number, e.Weight[edge], 10)
		_, _ = b.Write(append(number, '\n'))
	}
	err := b.Flush()
	return count.n, err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
