package replay

import (
	"io"
	"time"

	"kitescope/internal/encode"
)

// resultFile is what a saved result begins with. A sweep of 100 points over 100,000 segments is a third of the limit.
var resultFile = encode.File{
	What: "a replay's result", APIVersion: "kitescope/v1", Kind: "ReplayResult", Version: ResultVersion, Limit: 128 << 20, Open: 1,
}

// TellResult tells an encoder a result, of the present version whatever r says. Keys are lower_snake; ids, seeds and keys of rows are
// strings, durations numbers of seconds to the nanosecond, times RFC 3339 in UTC; what is unknown is left out, lists are never
// null. The functions of a plan are not in it. What WriteResult wrote and ReadResult read it writes again byte by byte.
func TellResult(e *encode.Encoder, r *Result) {
	saved := *r
	saved.Taken = r.Taken.Truncate(time.Millisecond)
	resultFile.Tell(e, &saved)
}

// WriteResult writes a result as one JSON object (TellResult).
func WriteResult(w io.Writer, r *Result) error {
	e := encode.JSON(w, resultFile.Open)
	TellResult(e, r)
	return e.Flush()
}

// ReadResult reads what WriteResult wrote; keys that it does not know are ignored. Errors say what is wrong with the file, and
// where: it is something else, of a later version, damaged.
func ReadResult(r io.Reader) (*Result, error) {
	result := &Result{Version: ResultVersion}
	version, err := resultFile.Read(r, result)
	if err != nil {
		return nil, err
	}
	result.Version = version
	return result, nil
}
