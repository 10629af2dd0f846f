package binlog

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// Functions of package binlogtest, which imports this package. See writers_test.go.
var (
	WriteColumn    func(w io.Writer, c *Column) error
	WriteIndexFile func(w io.Writer, d Descriptor, buildID int64, blob []byte) error
	WriteParquet   func(node parquet.Node, rows int, value func(i int) parquet.Value) ([]byte, error)
)
