package sqlext

// wildcards keeps the backslash of `\_` and `\%` in texts, which vitess drops: a pattern of LIKE then took any character for it. In a text it is written as two,
// and the text is parted there, so that AsWritten knows what was written.
func (r *rewriter) wildcards() {
	for _, t := range r.tokens {
		if t.kind != tokString {
			continue
		}
		var quote byte // of the part that i is in; 0 between parts
		for i := t.start; i < t.end; i++ {
			switch c := r.edits.sql[i]; {
			case quote == 0 && (c == '\'' || c == '"'):
				quote = c
			case c == quote:
				quote = 0 // a doubled quote begins the next part
			case quote != 0 && c == '\\':
				i++
				if next := r.edits.sql[i]; next == '_' || next == '%' {
					r.edits.replace(i-1, i, `\\`+string(quote)+" "+string(quote))
				}
			}
		}
	}
}
