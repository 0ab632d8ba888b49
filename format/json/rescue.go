package json

import (
	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/jsontext"
)

// rescuer gathers what no column takes of a block's records: values under keys that nothing wants, and those that are not of their types. Of a
// struct its fields are rescued one by one, inside an object of its name; a list or map is rescued as a whole.
type rescuer struct {
	*format.Rescue
	records []rescuedRecord // of the block
}

// rescuedRecord is what is known of a record before it is looked at for what is rescued.
type rescuedRecord struct {
	wanted  bool
	misfits []*node // whose values do not fit
}

// newBlock begins a block. A nil rescuer does nothing.
func (r *rescuer) newBlock(recs []record) {
	if r == nil {
		return
	}
	r.NewBlock()
	r.records = r.records[:0]
	for _, rec := range recs {
		r.records = append(r.records, rescuedRecord{wanted: rec.unknown})
	}
}

// misfit notes that a record's value is not of its node's type.
func (r *rescuer) misfit(record int, n *node) {
	rec := &r.records[record]
	rec.wanted = true
	rec.misfits = append(rec.misfits, n.whole)
}

func (r *rescuedRecord) isMisfit(n *node) bool {
	for _, m := range r.misfits {
		if m == n {
			return true
		}
	}
	return false
}

// rescueUnknown notes that an element of a list or map has a value that nothing wants, and makes ready to tell of the next.
func (r *Reader) rescueUnknown(n *node, record int) {
	if r.rescue != nil && r.parse.unknown {
		r.rescue.misfit(record, n)
	}
	r.parse.unknown = false
}

// rescueRecords looks at the records again that have something to be rescued, and fills the column.
func (r *Reader) rescueRecords(v *batch.Vector) {
	for row := range r.rescue.records {
		rec := &r.rescue.records[row]
		if !rec.wanted || r.parse.recs[row].malformed != "" {
			continue
		}
		r.members(r.parse.root, rec, r.parse.raw(row), func(name string, value []byte) {
			if isQuoted(value) {
				text, _ := jsontext.Unescape(nil, value[1:len(value)-1])
				r.rescue.Text(row, name, text)
				return
			}
			r.rescue.JSON(row, name, value)
		})
	}
	r.rescue.Fill(v, len(r.rescue.records))
}

// members yields what is to be rescued of an object, which is sound: text[0] is its bracket.
func (r *Reader) members(n *node, rec *rescuedRecord, text []byte, yield func(name string, value []byte)) {
	i := jsontext.Space(text, 1)
	for text[i] != '}' {
		at, closed := r.parse.lex.Key(text, i)
		raw := text[i+1 : closed-1]
		child := n.keys.find(raw).node
		end := r.parse.lex.Value(text, at)
		value := text[at:end]
		switch {
		case value[0] == 'n':
		case child == nil || rec.isMisfit(child):
			name, _ := jsontext.Unescape(nil, raw)
			yield(string(name), value)
		case child.keys != nil && value[0] == '{':
			if inner := r.inner(child, rec, value); len(inner) > 0 {
				name, _ := jsontext.Unescape(nil, raw)
				yield(string(name), inner)
			}
		}
		if i = jsontext.Space(text, end); text[i] == ',' {
			i = jsontext.Space(text, i+1)
		}
	}
}

// inner is an object of what is to be rescued of a struct's value; nil: nothing.
func (r *Reader) inner(n *node, rec *rescuedRecord, text []byte) []byte {
	var out []byte
	r.members(n, rec, text, func(name string, value []byte) {
		sep := byte(',')
		if out == nil {
			sep = '{'
		}
		out = append(batch.AppendJSONString(append(out, sep), []byte(name)), ':')
		out = format.AppendUTF8(out, value)
	})
	if out == nil {
		return nil
	}
	return append(out, '}')
}
