package binlog_test

import (
	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
)

func init() {
	binlog.WriteColumn, binlog.WriteIndexFile, binlog.WriteParquet = binlogtest.WriteColumn, binlogtest.WriteIndexFile,
		binlogtest.WriteParquet
}
