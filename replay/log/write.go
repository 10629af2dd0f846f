package log

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
)

// Write writes a log as .jsonl with one request per line. Open reads it without loss. A line is an object:
//
//	vector      one vector: a list of numbers; bits are a string, their bytes in base64; sparse vectors are {"3": 0.5}
//	vectors     or a list of vectors of one request
//	element     the element type: "float16", "bfloat16", "int8", "binary", "sparse"; float32 if missing. Each value is
//	            the shortest number that identifies its float32, so float16 and int8 values are read without loss
//	nq          for a log without vectors, the number of vectors; 0 if unknown
//	k           the number of requested results; missing if the run sets it
//	params      {"ef": 64, "nprobe": 8, "drop_ratio_search": 0.2}, only those that were set
//	filter      an expression of Milvus. When read, filter_params may have the values of its {names}; they are written
//	            filled in. Or a list of ids, integers or strings, that are the only ones allowed;
//	            {"in": [...]} is equivalent, and {"not_in": [...]} excludes ids
//	timestamp   RFC 3339; when read, also Unix seconds, or milliseconds (above 1e11)
//	at_seconds  or the time since the log's first request
//	collection  its name
//	truth       the true nearest ids, the nearest first; for vectors a list for each
//	took_ms     the recorded duration, in milliseconds
//	failed      true if the recorded request failed
func Write(w io.Writer, l *Log) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for i := range l.Requests {
		var err error
		if line, err = l.appendLine(line[:0], &l.Requests[i]); err != nil {
			return fmt.Errorf("write request %d: %w", i, err)
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// WriteNPY writes the vectors of all requests, in the order of the requests, as a NumPy matrix.
func WriteNPY(w io.Writer, l *Log) error {
	if l.Vectors == nil {
		return fmt.Errorf("write %s: the log has no vectors", l.Name)
	}
	if l.Vectors.Element == dist.Sparse {
		return fmt.Errorf("write %s: NumPy has no matrix of sparse vectors: write a .jsonl", l.Name)
	}
	all, err := l.compact()
	if err != nil {
		return err
	}
	defer all.Close()
	return dataset.WriteNPY(w, all.Vectors)
}

// digestOf returns the SHA-256 of the output of Write, so that a sampled log keeps its digest when it is saved and
// opened.
func digestOf(l *Log) (string, error) {
	sum := sha256.New()
	if err := Write(sum, l); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (l *Log) appendLine(b []byte, r *Request) (_ []byte, err error) {
	b = append(b, '{')
	if l.Vectors == nil {
		b = strconv.AppendInt(append(b, `"nq":`...), int64(r.NQ), 10)
	} else if b, err = l.appendVectors(b, r); err != nil {
		return nil, err
	}
	if r.K > 0 {
		b = strconv.AppendInt(append(b, `,"k":`...), int64(r.K), 10)
	}
	b = appendParams(b, r)
	if r.Filter != nil && r.Filter.Expr != "" {
		b = appendText(append(b, `,"filter":`...), r.Filter.Expr)
	} else if r.Filter != nil {
		b = append(b, `,"filter":{"in":`...)
		if r.Filter.Exclude {
			b = append(b[:len(b)-len(`"in":`)], `"not_in":`...)
		}
		b = append(appendKeys(b, r.Filter.Keys), '}')
	}
	switch {
	case r.Timed && !l.Start.IsZero():
		b = append(b, `,"timestamp":"`...)
		b = append(l.Start.Add(r.At).UTC().AppendFormat(b, time.RFC3339Nano), '"')
	case r.Timed:
		b = strconv.AppendFloat(append(b, `,"at_seconds":`...), r.At.Seconds(), 'f', -1, 64)
	}
	if r.Collection != "" {
		b = appendText(append(b, `,"collection":`...), r.Collection)
	}
	b = l.appendTruth(b, r)
	if r.Took > 0 {
		b = strconv.AppendFloat(append(b, `,"took_ms":`...), float64(r.Took)/1e6, 'f', -1, 64)
	}
	if r.Failed {
		b = append(b, `,"failed":true`...)
	}
	return append(b, "}\n"...), nil
}

func (l *Log) appendVectors(b []byte, r *Request) ([]byte, error) {
	if r.NQ < 1 || r.First < 0 || r.First > l.Vectors.Rows-r.NQ {
		return nil, fmt.Errorf("expected vectors %d to %d, the log has %d", r.First, r.First+r.NQ, l.Vectors.Rows)
	}
	b = append(b, `"vector":`...)
	if r.NQ > 1 {
		b = append(b[:len(b)-2], `s":[`...)
	}
	for i := range r.NQ {
		if i > 0 {
			b = append(b, ',')
		}
		row := l.Vectors.Row(r.First + i)
		if !finite(row, l.Vectors.Element) {
			return nil, fmt.Errorf("vector %d: %w", i, errNonFinite)
		}
		if l.Vectors.Element == dist.Sparse {
			b = appendSparse(b, row)
			continue
		}
		b = appendVector(b, row, l.Vectors.Element, l.Vectors.Dim)
	}
	if r.NQ > 1 {
		b = append(b, ']')
	}
	if e := l.Vectors.Element; e != dist.Float32 {
		b = appendText(append(b, `,"element":`...), elementName(e))
	}
	return b, nil
}

func appendVector(b, row []byte, e dist.Element, dim int) []byte {
	if e == dist.Bit {
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), row), '"')
	}
	b = append(b, '[')
	for j := range dim {
		if j > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(value(row, e, j)), 'g', -1, 32)
	}
	return append(b, ']')
}

func appendParams(b []byte, r *Request) []byte {
	before := len(b)
	b = append(b, `,"params":{`...)
	first := len(b)
	for f, x := range r.Given() {
		if len(b) > first {
			b = append(b, ',')
		}
		b = f.Append(append(append(append(b, '"'), f.Key...), `":`...), x)
	}
	if len(b) == first {
		return b[:before]
	}
	return append(b, '}')
}

func (l *Log) appendTruth(b []byte, r *Request) []byte {
	if l.Truth == nil || r.NQ == 0 || l.Vectors == nil {
		return b
	}
	if r.NQ == 1 {
		if l.Truth[r.First] == nil {
			return b
		}
		return appendKeys(append(b, `,"truth":`...), l.Truth[r.First])
	}
	b = append(b, `,"truth":[`...)
	for i := range r.NQ {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendKeys(b, l.Truth[r.First+i])
	}
	return append(b, ']')
}

func appendKeys(b []byte, keys []engine.Key) []byte {
	b = append(b, '[')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if k.IsText {
			b = appendText(b, k.Text)
		} else {
			b = strconv.AppendInt(b, k.Number, 10)
		}
	}
	return append(b, ']')
}

// appendText appends quoted text. Bytes that are not UTF-8 are lost, because JSON cannot represent them.
func appendText(b []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // never fails for a string
	return append(b, quoted...)
}
