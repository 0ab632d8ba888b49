package vector

import "context"

// Warning is what MySQL has to say of a value that is no error.
type Warning struct {
	Code    int // MySQL's
	Message string
}

var divisionByZero = Warning{Code: 1365, Message: "Division by 0"}

type warnKey struct{}

// WithWarnings is a context in which expressions give their warnings to take, which any goroutine may call. Without it they are dropped.
func WithWarnings(ctx context.Context, take func(Warning)) context.Context {
	return context.WithValue(ctx, warnKey{}, take)
}

// Warn gives the warning of a row; false where the context has nobody to take it.
func Warn(ctx context.Context, w Warning) bool {
	take, ok := ctx.Value(warnKey{}).(func(Warning))
	if ok {
		take(w)
	}
	return ok
}

// warn gives a warning for each of so many rows.
func warn(ctx context.Context, w Warning, rows int) {
	for range rows {
		if !Warn(ctx, w) {
			return
		}
	}
}
