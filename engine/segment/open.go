package segment

import (
	"context"
	"errors"
	"fmt"

	"kitescope/engine/dist"
	"kitescope/engine/index"
	"kitescope/engine/object"
)

// readIndex reads an index if it is of the field, and checks it against the rows. Some files do not record their
// field. An index of an unsupported type sets IndexErr and is not an error, because the rows can be searched.
func (s *Segment) readIndex(
	ctx context.Context, store object.Store, folder string, field int64,
) (found bool, err error) {
	x, hint, err := index.ReadBlobs(ctx, store, folder, index.Hint{
		Metric: s.Metric, Element: s.Vectors.Element, Dim: s.Vectors.Dim,
	})
	if err != nil {
		return false, err
	}
	if x.Field != 0 && x.Field != field {
		x.Release()
		return false, nil
	}
	f, err := index.FromBlobs(x, hint)
	if err != nil {
		x.Release()
		if _, ok := errors.AsType[*index.UnsupportedError](err); ok {
			s.IndexErr = err
			return true, nil
		}
		return true, err
	}
	s.Index = f
	return true, s.fits(f, folder)
}

// fits returns an error if an index does not match the rows.
func (s *Segment) fits(f *index.File, folder string) error {
	switch element := f.Element(); {
	case f.Rows != s.Rows:
		return fmt.Errorf("%s: an index of %d rows, the insert logs have %d", folder, f.Rows, s.Rows)
	case f.Dim != s.Vectors.Dim && element != dist.Sparse:
		return fmt.Errorf("%s: an index of %d dimensions, the insert logs have %d", folder, f.Dim, s.Vectors.Dim)
	case element != s.Vectors.Element:
		return fmt.Errorf("%s: an index of %s, the insert logs have %s", folder, element, s.Vectors.Element)
	case f.MetricKnown && f.Metric != s.Metric:
		return fmt.Errorf("%s: its metric is %s, that of the collection %s", folder, f.Metric, s.Metric)
	}
	return nil
}
