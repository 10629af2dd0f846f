package prometheus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// maxElement bounds one series, which has at most five minutes of samples, and one family's types, in
	// bytes.
	maxElement = 256 << 10
	// maxWeight bounds the memory of a response in bytes: enough for fifty thousand series.
	maxWeight = 64 << 20
	// maxResponse bounds the size of a response, in bytes.
	maxResponse = 64 << 20
	// maxBytes bounds the size of all responses together, in bytes.
	maxBytes = 1 << 30
)

var (
	errForeign = errors.New("not a JSON object")
	errNone    = errors.New("not an answer to the query")
	errLarge   = errors.New("the answer is too large")
)

// responseDecoder decodes a response of the API (prometheus.io/docs/prometheus/latest/querying/api) element by element,
// because decoded JSON takes many times the bytes of its text.
type responseDecoder struct {
	decoder *json.Decoder
	in      *element
	weight  int64
}

// element reads the bytes of an element.
type element struct {
	io.Reader
	left, total int
}

func (e *element) Read(p []byte) (int, error) {
	if e.left <= 0 || e.total > maxResponse {
		return 0, errLarge
	}
	n, err := e.Reader.Read(p[:min(len(p), e.left)])
	e.left, e.total = e.left-n, e.total+n
	return n, err
}

func newResponseDecoder(r io.Reader) *responseDecoder {
	in := &element{Reader: r}
	return &responseDecoder{decoder: json.NewDecoder(in), in: in}
}

// next decodes an element.
func (a *responseDecoder) next(v any) error {
	a.in.left = maxElement
	before := a.decoder.InputOffset()
	err := a.decoder.Decode(v)
	return errors.Join(err, a.addSize(2*(a.decoder.InputOffset()-before)))
}

// addSize adds bytes to the memory of the response, and returns an error above maxWeight.
func (a *responseDecoder) addSize(bytes int64) error {
	if a.weight += bytes; a.weight > maxWeight {
		return fmt.Errorf("%w: its series take more than %d MiB", errLarge, maxWeight>>20)
	}
	return nil
}

// object calls each with each name in an object, to decode the value.
func (a *responseDecoder) object(each func(name string) error) error {
	return a.all('{', func() error {
		token, err := a.decoder.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		return each(name)
	})
}

// all calls each for the elements of an object or array; null has none.
func (a *responseDecoder) all(begin json.Delim, each func() error) error {
	a.in.left = maxElement
	if token, err := a.decoder.Token(); err != nil {
		return err
	} else if token == nil {
		return nil
	} else if token != begin {
		return errNone
	}
	for a.decoder.More() {
		if err := each(); err != nil {
			return err
		}
		a.in.left = maxElement
	}
	_, err := a.decoder.Token()
	return err
}

// skip skips an element of any size, in parts, because warnings may be many texts.
func (a *responseDecoder) skip() error {
	for depth := 0; ; {
		a.in.left = maxElement
		token, err := a.decoder.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// read decodes the response; data decodes its data. problem is the error that the server reports.
func (a *responseDecoder) read(data func(*responseDecoder) error) (problem string, err error) {
	status := ""
	err = a.object(func(name string) error {
		switch name {
		case "status":
			return a.next(&status)
		case "error":
			return a.next(&problem)
		case "data":
			return data(a)
		}
		return a.skip()
	})
	switch {
	case err != nil && status == "":
		return "", errors.Join(errForeign, err)
	case err == nil && status != "success" && problem == "":
		problem = "status " + status
	}
	return problem, err
}

// series decodes the result of a query. It returns nil if there is none.
func (a *responseDecoder) series() (list []series, err error) {
	const perSeries, perPart = 256, 48
	err = a.object(func(name string) error {
		if name != "result" {
			return a.skip()
		}
		list = []series{}
		return a.all('[', func() error {
			var x series
			if err := a.next(&x); err != nil {
				return err
			}
			list = append(list, x)
			return a.addSize(perSeries + perPart*int64(len(x.Metric)+len(x.Values)))
		})
	})
	return list, err
}
