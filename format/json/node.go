package json

import (
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/jsontext"
)

// token says where a value lies in the text, with its quotes or brackets. The zero value is none.
type token struct {
	off uint32
	len uint32 // bytes, and the flag
}

// hasEscapes is a flag of token.len: it is a string with escapes.
const hasEscapes uint32 = 1 << 31

// block is a table of tokens: a row a record of the file, or a row an element of a list or an entry of a map.
type block struct {
	width   int
	tokens  []token // width per row
	rows    int
	records []int32 // of elements: the record that each row is in
}

// newRow adds a row without values.
func (b *block) newRow() []token {
	at := len(b.tokens)
	if at+b.width > cap(b.tokens) {
		grown := make([]token, at, max(2*cap(b.tokens), 64*b.width))
		copy(grown, b.tokens)
		b.tokens = grown
	}
	b.tokens = b.tokens[:at+b.width]
	row := b.tokens[at:]
	clear(row)
	b.rows++
	return row
}

func (b *block) reset() { b.tokens, b.rows, b.records = b.tokens[:0], 0, b.records[:0] }

// record is the record that a row is in.
func (b *block) record(row int) int {
	if b.records == nil {
		return row
	}
	return int(b.records[row])
}

// node is a column, a field of a struct, an element, or a map's value: what one value is taken apart into.
type node struct {
	typ    batch.Type
	path   string  // such as order.items, for messages
	slot   int     // of its token in a row of its block
	end    int     // behind the slots of its fields
	fields []*node // of a struct: in the same block
	keys   *keys   // of a struct
	inner  *block  // of a list or map: its elements, or entries, a key in slot 0
	value  *node   // of a list or map: in inner
	whole  *node   // what is rescued where a value does not fit: itself, or the outermost list or map that it is in
}

// newRoot returns the node of a whole record, and its block. The columns at the positions without are none of the file's.
func newRoot(schema *batch.Schema, caseSensitive bool, without ...int) (*node, *block, error) {
	root := &node{keys: newKeys(caseSensitive)}
	root.keys.extra = true
	b := &block{}
	for i, f := range schema.Fields {
		if slices.Contains(without, i) {
			root.fields = append(root.fields, nil)
			continue
		}
		if err := root.add(f, f.Name, nil, b, caseSensitive); err != nil {
			return nil, nil, err
		}
	}
	return root, b, nil
}

// add adds a field to the node of a record or a struct; whole is the outermost list or map that it is in.
func (n *node) add(f batch.Field, path string, whole *node, b *block, caseSensitive bool) error {
	child, err := newNode(f.Type, path, whole, b, caseSensitive)
	if err != nil {
		return err
	}
	n.fields = append(n.fields, child)
	n.keys.add(f.Name, child)
	return nil
}

func newNode(typ batch.Type, path string, whole *node, b *block, caseSensitive bool) (*node, error) {
	n := &node{typ: typ, path: path, slot: b.width, whole: whole}
	inside := whole
	if whole == nil {
		n.whole = n
		if typ.Kind == batch.List || typ.Kind == batch.Map {
			inside = n
		}
	}
	b.width++
	var err error
	switch typ.Kind {
	case batch.Struct:
		n.keys = newKeys(caseSensitive)
		for _, f := range typ.Fields() {
			if err := n.add(f, path+"."+f.Name, whole, b, caseSensitive); err != nil {
				return nil, err
			}
		}
	case batch.List:
		n.inner = &block{records: []int32{}}
		n.value, err = newNode(typ.Fields()[0].Type, path+"[]", inside, n.inner, caseSensitive)
	case batch.Map:
		if key := typ.Fields()[0].Type; key.Kind != batch.String {
			return nil, &format.Error{Message: fmt.Sprintf("column %q: the keys of a map in JSON are strings, and %s has others", path, typ)}
		}
		n.inner = &block{records: []int32{}, width: 1}
		n.value, err = newNode(typ.Fields()[1].Type, path+"[]", inside, n.inner, caseSensitive)
	case batch.Invalid:
		return nil, &format.Error{Message: fmt.Sprintf("column %q has no type", path)}
	}
	n.end = b.width
	return n, err
}

// maxKeys bounds how many keys that no column has are remembered of an object.
const maxKeys = 4096

// keys finds the field that a key of an object stands for.
type keys struct {
	first  *key // the key that the last object began with
	byName map[string]*key
	folded map[string]*key // by name in lower case; nil: names differ by case
	other  key             // of keys that are too many to be remembered
	extra  bool            // keys that no column has are wanted
	names  []string        // those of which a value that is not null has been seen
}

// key is a key of objects.
type key struct {
	quoted string // as it is written, "name":
	name   string
	node   *node // nil: nothing wants its values
	next   *key  // that followed it last
	told   bool  // it is in keys.names
}

// unwritten never is what a text has at a key's place.
const unwritten = "\x00"

func newKeys(caseSensitive bool) *keys {
	ks := &keys{byName: map[string]*key{}, other: key{quoted: unwritten, told: true}}
	if !caseSensitive {
		ks.folded = map[string]*key{}
	}
	return ks
}

func (ks *keys) add(name string, n *node) *key {
	k := &key{quoted: `"` + name + `":`, name: name, node: n}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		k.quoted = unwritten
	}
	ks.byName[name] = k
	if lower := strings.ToLower(name); ks.folded != nil && n != nil && ks.folded[lower] == nil {
		ks.folded[lower] = k
	}
	return k
}

// find returns the key whose text between the quotes is raw.
func (ks *keys) find(raw []byte) *key {
	if k := ks.byName[string(raw)]; k != nil {
		return k
	}
	plain, _ := jsontext.Unescape(nil, raw)
	name := string(plain)
	if k := ks.byName[name]; k != nil {
		return k
	}
	var n *node
	if k := ks.folded[strings.ToLower(name)]; k != nil {
		n = k.node
	}
	if n == nil && len(ks.byName) >= maxKeys {
		return &ks.other
	}
	return ks.add(name, n)
}
