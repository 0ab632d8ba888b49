package deltatable

import "fmt"

// refusal is an error that a retry does not mend. Its text is that of what was found.
type refusal struct {
	class error // source.ErrChanged or source.ErrData
	err   error
}

// refuse makes a refusal; the format may wrap what caused it.
func refuse(class error, format string, args ...any) error {
	return &refusal{class, fmt.Errorf(format, args...)}
}

func (r *refusal) Error() string { return r.err.Error() }

// Unwrap returns the class and the cause.
func (r *refusal) Unwrap() []error { return []error{r.class, r.err} }
