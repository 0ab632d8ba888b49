// Package jsontext finds where the tokens and values of JSON texts (RFC 8259) end, and what strings with escapes stand for. It
// builds nothing and allocates nothing: the readers of the log, of columns and of files each make their own thing of the tokens.
//
// A position at which a text is no JSON is returned as its complement, ^pos, which is negative. Whether a string is UTF-8 is for
// the caller to check.
package jsontext
