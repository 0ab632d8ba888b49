package delta

import (
	"slices"
	"strconv"
	"strings"

	"lakesql/batch"
)

// Table properties that speak of the protocol. They are taken out of the metadata before these are written.
const (
	featureProperty   = "delta.feature." // + the feature's name
	minReaderProperty = "delta.minReaderVersion"
	minWriterProperty = "delta.minWriterVersion"
)

// isProtocolProperty tells whether a property is a wish about the protocol.
func isProtocolProperty(key string) bool {
	return key == minReaderProperty || key == minWriterProperty || strings.HasPrefix(key, featureProperty)
}

// withoutProtocolProperties returns the metadata as the log has them; nil for nil.
func (m *Metadata) withoutProtocolProperties() *Metadata {
	if m == nil {
		return nil
	}
	out := *m
	out.Configuration = make(map[string]string, len(m.Configuration))
	for k, v := range m.Configuration {
		if !isProtocolProperty(k) {
			out.Configuration[k] = v
		}
	}
	return &out
}

// newTableProtocol is where a new table starts: what every engine of the last years can read and write.
var newTableProtocol = Protocol{MinReader: 1, MinWriter: 2}

// requiredProtocol is the protocol that metadata need on top of the present one (nil: a new table); nil when that one is enough. As
// long as old version numbers can say what is needed they are raised, because older engines know nothing else; beyond that features
// are listed, with all that the old numbers implied. Nothing is ever taken away.
func requiredProtocol(now *Protocol, meta *Metadata, schema *batch.Schema) *Protocol {
	base := now
	if now == nil {
		base = &newTableProtocol
	}
	var missing []string
	lists := base.MinWriter >= maxWriter
	for _, name := range neededFeatures(meta, schema) {
		if !base.Supports(name) {
			missing = append(missing, name)
			lists = lists || features[name].legacyWriter == 0
		}
	}
	next := &Protocol{MinReader: max(base.MinReader, meta.count(minReaderProperty, 0)), MinWriter: max(base.MinWriter, meta.count(minWriterProperty, 0))}
	for _, name := range missing {
		f := features[name]
		next.MinReader, next.MinWriter = max(next.MinReader, f.legacyReader), max(next.MinWriter, f.legacyWriter)
		if f.reader && f.legacyReader == 0 {
			next.MinReader = maxReader
		}
	}
	if lists || next.MinReader >= maxReader {
		next.MinWriter = maxWriter
	}
	if now != nil && len(missing) == 0 && next.MinReader == now.MinReader && next.MinWriter == now.MinWriter {
		return nil
	}
	if next.MinWriter == maxWriter {
		next.list(base, missing)
	}
	return next
}

// list fills in the features: those of base and the missing ones.
func (p *Protocol) list(base *Protocol, missing []string) {
	if base.MinWriter < maxWriter {
		for _, name := range sortedKeys(features) {
			if base.Supports(name) {
				p.WriterFeatures = append(p.WriterFeatures, name)
			}
		}
	} else {
		p.WriterFeatures = slices.Clone(base.WriterFeatures)
	}
	p.WriterFeatures = append(p.WriterFeatures, missing...)
	if p.MinReader < maxReader {
		return
	}
	for _, name := range p.WriterFeatures {
		if f, _ := featureNamed(name); f.reader || slices.Contains(base.ReaderFeatures, name) {
			p.ReaderFeatures = append(p.ReaderFeatures, name)
		}
	}
}

// neededFeatures are the features that metadata make use of or ask for, with those that these need, in alphabetical order.
func neededFeatures(meta *Metadata, schema *batch.Schema) []string {
	need := make(map[string]bool)
	var add func(name string)
	add = func(name string) {
		if name != "" && !need[name] {
			need[name] = true
			add(features[name].needs)
		}
	}
	for name, f := range features {
		if f.active != nil && f.active(meta, schema) {
			add(name)
		}
	}
	for k := range meta.Configuration {
		if name, ok := strings.CutPrefix(k, featureProperty); ok {
			add(canonicalFeature(name))
		}
	}
	return sortedKeys(need)
}

// canonicalFeature finds a feature by a name that a person wrote, in any case; "" when there is none.
func canonicalFeature(name string) string {
	for alias, canonical := range featureAliases {
		if strings.EqualFold(alias, name) {
			return canonical
		}
	}
	for known := range features {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return ""
}

// checkProtocolProperty checks a wish about the protocol.
func checkProtocolProperty(key, value string) error {
	if name, ok := strings.CutPrefix(key, featureProperty); ok {
		if canonicalFeature(name) == "" {
			return &UnsupportedError{Op: "write", Features: []string{name}, Detail: "the table property " + key + " asks for it"}
		}
		if v := strings.ToLower(value); v != "supported" && v != "enabled" {
			return propertyError(key, value, "supported")
		}
		return nil
	}
	highest := maxWriter
	if key == minReaderProperty {
		highest = maxReader
	}
	if n, err := strconv.Atoi(value); err != nil || n < 1 || n > highest {
		return propertyError(key, value, "a number from 1 to "+strconv.Itoa(highest))
	}
	return nil
}
