package read

import "kitescope/internal/hints"

// fit counts the lines of a text that were read and those that were not: that the beginning of a file looks like a
// format does not make all of it one.
type fit struct {
	read, odd int64
	number    int // of the line that is being read
	first     int // the first that was not understood
}

// strange counts a line that is not understood.
func (f *fit) strange() {
	if f.odd++; f.odd == 1 {
		f.first = f.number
	}
}

// check refuses a text of which more lines were passed over than read.
func (f *fit) check(format string) error {
	if f.odd > f.read {
		return hints.Errorf("the file may have another format, or several files in a row: extract the part in this format",
			"it begins like %s, but %d of its lines are not understood, the first is line %d, and only %d are", format, f.odd, f.first, f.read)
	}
	return nil
}
