package resultmeta

// textRules are those of functions that make texts. All may be NULL: MySQL says so of every one that may have to convert a character set.
var textRules = map[string]rule{
	"concat": func(c *call) Column { return concatenated(c.of, 0) },
	"concat_ws": func(c *call) Column {
		between := c.of[0].asText().Length * uint64(max(len(c.of)-2, 0))
		return concatenated(c.of[1:], between)
	},
	"upper": same, "ucase": same, "lower": same, "lcase": same, "reverse": same, "trim": trimmed, "ltrim": same, "rtrim": same, "substring_index": same,
	"soundex": same, "regexp_substr": same, "replace": replaced,
	"left": part, "cut_characters": part, "cut_bytes": part, "right": part, "substring": substring, "substr": substring, "mid": substring, "lpad": padded, "rpad": padded,
	"repeat": func(c *call) Column {
		times, ok := c.number(1)
		if !ok {
			return like(c.of[0], longLength)
		}
		return like(c.of[0], c.of[0].asText().Length*uint64(max(times, 0)))
	},
	"insert":         func(c *call) Column { return like(c.of[0], c.of[0].asText().Length+c.of[3].asText().Length) },
	"quote":          func(c *call) Column { return like(c.of[0], min(c.of[0].asText().Length*2+2, packetLength)) },
	"space":          fixedText(longLength / 16),
	"regexp_replace": fixedText(packetLength),
	"hex":            func(c *call) Column { return text(hexDigits(c.of[0]), false) },
	"bin":            fixedText(65), "oct": fixedText(65), "conv": fixedText(65),
	"unhex": func(c *call) Column {
		t := c.of[0].asText()
		if t.isText() && !t.isBytes() && c.of[0].isText() {
			return binary((t.Length*characterBytes+1)/2, false)
		}
		return binary((t.Length+1)/2, false)
	},
	"to_base64": func(c *call) Column { return text(base64Length(c.of[0]), false) },
	"char":      func(c *call) Column { return binary(4*uint64(len(c.of)), false) },
	"elt": func(c *call) Column {
		most := uint64(0)
		for _, of := range c.of[1:] {
			most = max(most, of.asText().Length)
		}
		return text(most, false)
	},
	"md5": fixedText(32), "sha": fixedText(40), "sha1": fixedText(40), "sha2": hashed,
	"charset": fixedText(64), "collation": fixedText(64), "inet_ntoa": fixedText(31), "inet6_ntoa": fixedText(39), "dayname": fixedText(9), "monthname": fixedText(9),
	"format":      func(c *call) Column { return text(formatLength(c), false) },
	"time_format": formatted, "get_format": fixedText(17),
	"date_format": formatted,
}

// same is a text no longer than the first argument's.
func same(c *call) Column { return like(c.of[0], c.of[0].asText().Length) }

// trimmed is that of TRIM, whose text may come last.
func trimmed(c *call) Column { return same(c) }

func replaced(c *call) Column {
	from, to := c.of[1].asText().Length, c.of[2].asText().Length
	length := c.of[0].asText().Length
	if to > from {
		length *= to / max(from, 1)
	}
	return like(c.of[0], length)
}

// like is a text of a length with the character set of another.
func like(of Column, length uint64) Column {
	t := of.asText()
	if t.isBytes() {
		return binary(length, false)
	}
	made := text(length, false)
	made.Bytewise = t.Bytewise
	return made
}

func fixedText(length uint64) rule { return func(*call) Column { return text(length, false) } }

// concatenated is a text of several.
func concatenated(of []Column, more uint64) Column {
	length, made := more, merge(asTexts(of)...)
	for _, c := range of {
		t := c.asText()
		if made.isBytes() && !t.isBytes() {
			length += t.Length * characterBytes
			continue
		}
		length += t.Length
	}
	return like(made, min(length, packetLength))
}

func asTexts(of []Column) []Column {
	texts := make([]Column, len(of))
	for i, c := range of {
		texts[i] = c.asText()
	}
	return texts
}

// part is that of LEFT and RIGHT.
func part(c *call) Column {
	length := c.of[0].asText().Length
	if n, ok := c.number(1); ok {
		length = min(length, uint64(max(n, 0)))
	}
	return like(c.of[0], length)
}

func substring(c *call) Column {
	length := c.of[0].asText().Length
	if from, ok := c.number(1); ok && from > 0 {
		length -= min(length, uint64(from-1))
	} else if ok && from < 0 {
		length = min(length, uint64(-from))
	}
	if n, ok := c.number(2); ok {
		length = min(length, uint64(max(n, 0)))
	}
	return like(c.of[0], length)
}

// padded is that of LPAD and RPAD.
func padded(c *call) Column {
	if n, ok := c.number(1); ok {
		return like(c.of[0], uint64(max(n, 0)))
	}
	return like(c.of[0], longLength)
}

// hexDigits are those of HEX: two for each byte of a text, 16 for a number.
func hexDigits(of Column) uint64 {
	switch {
	case of.isBytes() || of.isMoment():
		return of.Length * 2
	case of.isText() || of.Type == document().Type:
		return of.Length * 2 * characterBytes
	}
	return 16
}

// base64Length is the length of a text in base 64, which has a line's end after 76 characters.
func base64Length(of Column) uint64 {
	bytes := of.asText().Length
	if (of.isText() && !of.isBytes()) || of.Type == document().Type {
		bytes *= characterBytes
	}
	length := (bytes + 2) / 3 * 4
	return min(length+(max(length, 1)-1)/76, packetLength)
}

// hashed is that of SHA2 by the bits.
func hashed(c *call) Column {
	bits, ok := c.number(1)
	switch {
	case ok && (bits == 0 || bits == 224 || bits == 256 || bits == 384 || bits == 512):
		if bits == 0 {
			bits = 256
		}
		return text(uint64(bits)/4, false)
	}
	return Column{}
}

// formatLength is the length of FORMAT.
func formatLength(c *call) uint64 {
	length := c.of[0].Length
	if c.of[0].Decimals < noDecimals && c.of[0].Decimals > 0 {
		length -= uint64(c.of[0].Decimals)
	}
	return length + length/3 + 1 + maxScale + 1
}
