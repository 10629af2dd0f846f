package replay

import (
	"io"
	"time"

	"kitescope/internal/encode"
)

// resultFile describes the file of a saved result. A sweep of 100 points over 100,000 segments takes a third of the
// limit.
var resultFile = encode.File{
	What: "a replay's result", APIVersion: "kitescope/v1", Kind: "ReplayResult", Version: ResultVersion,
	Limit: 128 << 20, Open: 1,
}

// EncodeResult encodes a result, always with the current version. Keys are lower_snake. IDs, seeds and row keys are
// strings, durations are seconds with nanosecond precision, times are RFC 3339 in UTC. Unknown values are omitted,
// and lists are never null. The functions of a plan are not encoded. A result that was written by WriteResult and
// read by ReadResult encodes to the same bytes.
func EncodeResult(e *encode.Encoder, r *Result) {
	saved := *r
	saved.Taken = r.Taken.Truncate(time.Millisecond)
	resultFile.Encode(e, &saved)
}

// WriteResult writes a result as one JSON object (see EncodeResult).
func WriteResult(w io.Writer, r *Result) error {
	e := encode.JSON(w, resultFile.Open)
	EncodeResult(e, r)
	return e.Flush()
}

// ReadResult reads the output of WriteResult and ignores unknown keys. It returns an error, with the position, if
// the file is something else, has a later version, or is damaged.
func ReadResult(r io.Reader) (*Result, error) {
	result := &Result{Version: ResultVersion}
	version, err := resultFile.Read(r, result)
	if err != nil {
		return nil, err
	}
	result.Version = version
	return result, nil
}
